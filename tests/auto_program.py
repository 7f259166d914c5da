"""AUTO-07p on files that we write: the program, compiled models, its output.

AUTO is looked for in AUTO_DIR and where Debian's package auto-07p puts it, and driven as its own commands drive it: the
model linked with its objects, constants in fort.2, the solutions in fort.3.
"""

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

COMPILER = shutil.which("gfortran")
PLACES = [Path(place) for place in (os.environ.get("AUTO_DIR"), "/usr/lib/auto-07p") if place]
AUTO = next((place for place in PLACES if (place / "lib" / "main.o").is_file()), None)

needs_compiler = pytest.mark.skipif(COMPILER is None, reason="no gfortran to compile the equations file with")
needs_auto = pytest.mark.skipif(
    AUTO is None or COMPILER is None,
    reason="no AUTO-07p with its objects, in AUTO_DIR or /usr/lib/auto-07p, or no gfortran to link it with",
)
# Calls FUNC at the parameters and unknowns it reads.
DRIVER = """
PROGRAM DRIVER
  IMPLICIT NONE
  INTEGER :: NDIM, NPAR, POINTS, J, ICP(1)
  DOUBLE PRECISION, ALLOCATABLE :: PAR(:), U(:), F(:), DFDU(:,:), DFDP(:,:)
  READ(*,*) NDIM, NPAR, POINTS
  ALLOCATE(PAR(NPAR), U(NDIM), F(NDIM), DFDU(NDIM,NDIM), DFDP(NDIM,NPAR))
  DO J = 1, POINTS
    READ(*,*) PAR, U
    CALL FUNC(NDIM, U, ICP, PAR, 2, F, DFDU, DFDP)
    WRITE(*,'(ES25.16E3)') F, DFDU, DFDP
  END DO
END PROGRAM DRIVER
"""


@dataclass
class Point:
    """A labelled point of an s. file."""

    label: int
    type: int
    unknowns: np.ndarray
    parameters: np.ndarray


def solutions(path: Path) -> list[Point]:
    """Return the labelled points of an s. file."""
    lines = path.read_text().splitlines()
    points = []
    while lines:
        header, count = [int(part) for part in lines[0].split()], int(lines[0].split()[8])
        values = np.array(" ".join(lines[1 : count + 1]).split(), dtype=float)
        points.append(Point(header[3], header[2], values[1 : header[7]], values[-header[11] :]))
        lines = lines[count + 1 :]
    return points


def compiled(model: Path, folder: Path, driver: bool = False) -> Path:
    """Return the program of an equations file with AUTO, or with the driver."""
    folder.mkdir(parents=True, exist_ok=True)
    sources = [str(model)]
    if driver:
        (folder / "driver.f90").write_text(DRIVER)
        sources.append("driver.f90")
    else:
        sources += map(str, sorted((AUTO / "lib").glob("*.o")))
    # As standard Fortran, with what may be missing in other compilers an error.
    command = [COMPILER, "-O2", "-fopenmp", "-w", *(["-std=f2008", "-pedantic-errors"] if driver else [])]
    subprocess.run([*command, *sources, "-o", "program"], cwd=folder, check=True, timeout=300)
    return folder / "program"


def evaluated(program: Path, parameters: np.ndarray, unknowns: np.ndarray) -> list[tuple[np.ndarray, ...]]:
    """Return F, DFDU and DFDP of a compiled driver at each row of parameters and unknowns."""
    size, count = unknowns.shape[1], parameters.shape[1]
    rows = [" ".join(map(repr, row)) for row in np.hstack([parameters, unknowns]).tolist()]
    text = "\n".join([f"{size} {count} {len(rows)}", *rows])
    run = subprocess.run([program], input=text, capture_output=True, text=True, check=True, timeout=300)
    values = np.array(run.stdout.split(), dtype=float).reshape(len(rows), -1)
    return [
        (
            row[:size],
            row[size : size * (size + 1)].reshape(size, size).T,
            row[size * (size + 1) :].reshape(-1, size).T,
        )
        for row in values
    ]


def run(program: Path, files: Path, name: str, folder: Path, **constants: object) -> tuple[list[Point], str]:
    """Return labelled points and the text of fort.7 of a run with the exported constants, changed as said."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(files / f"s.{name}", folder / "fort.3")
    lines = [(files / f"c.{name}").read_text(), *(f"{key} = {value}" for key, value in constants.items())]
    (folder / "fort.2").write_text("\n".join(lines) + "\n")
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    ended = subprocess.run([program], cwd=folder, capture_output=True, text=True, timeout=300, env=environment)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return solutions(folder / "fort.8"), (folder / "fort.7").read_text()
