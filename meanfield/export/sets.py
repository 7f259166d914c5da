"""Files that belong together: one of them has the digests of all, and is written first.

So after a kill between two renamings the digests never agree with the files beside them.
"""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import InvalidInput
from . import records
from .files import beside, is_file

KEY = "files"
PROVENANCE = ".provenance.json"


def digests_of(texts: Mapping[str, str]) -> dict[str, str]:
    """Return the digests of texts by name."""
    return {name: hashlib.sha256(text.encode()).hexdigest() for name, text in texts.items()}


def require_set(path: Path, stated: Mapping[str, str], found: Mapping[str, str]) -> None:
    """Refuse texts, by name, that are not those whose digests are stated.

    Parameters
    ----------
    path
        The file that states them.

    Raises
    ------
    InvalidInput
        With the names of those that differ.
    """
    present = digests_of(found)
    wrong = [name for name in stated if present.get(name) != stated[name]]
    if wrong:
        raise InvalidInput(
            f"{' and '.join(wrong)} {'is' if len(wrong) == 1 else 'are'} not what {path} was written with: one is "
            "damaged, or they are of different sets; take another copy, or open them unchecked with check=False"
        )


def require_tables(path: Path) -> None:
    """Refuse CSV tables that do not agree with the digests in NAME.provenance.json, if it states any.

    Raises
    ------
    InvalidInput
        If a table is missing or another one, or the file of their origin is damaged.
    """
    origin = beside(path, path.stem + PROVENANCE)
    if not is_file(origin):
        return
    try:
        values: Any = records.load(origin.read_text(encoding="utf-8"))
        stated = dict(values.get(KEY, {}))
    except (ValueError, AttributeError, TypeError) as error:
        raise InvalidInput(f"{origin} is damaged or no file of the origin of tables") from error
    tables = {name: beside(path, path.stem + name) for name in stated}
    texts = {
        name: table.read_bytes().decode("utf-8", "replace") for name, table in tables.items() if table.is_file()
    }
    require_set(origin, _named(path.stem, stated), _named(path.stem, texts))


def _named(stem: str, values: Mapping[str, str]) -> dict[str, str]:
    return {stem + name: value for name, value in values.items()}
