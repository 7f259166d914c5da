"""What may happen to a command from outside, from seconds to hours: nothing may be lost and nothing may stay behind.

    python tests/faults.py                              every kind, thirty trials each
    python tests/faults.py kills --trials 1000
    python tests/faults.py kills --seed 7 --first 123 --trials 1      one trial again

kills      Eight times a signal, SIGINT, SIGTERM, SIGHUP or SIGKILL, to the process or to its group, at a random moment
           of a command that writes a file over an old one. No process may outlive it for long, the exit code is that
           of the signal or of the work done, the file is the old one or a whole new one, and the next run succeeds
           and leaves nothing else in the directory.
streams    Standard output or error closed, full, or a pipe that nobody reads. The files are written all the same; the
           exit code is an error if standard output was lost, and only then.
disks      A disk that is full after some kilobytes, as far as a limit on the size of files can play one. One sentence,
           the old file intact, nothing left behind.
values     An option with a value that nobody means. One sentence or an answer, within seconds and bounded memory.

A trial is lost if any of this does not hold; the line that tries it again is printed. Exits with 1 then.
"""

import argparse
import contextlib
import os
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = "import sys; from meanfield.cli import main; sys.exit(main())"
OLD = b"the old file"
INTERRUPTED = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129, signal.SIGKILL: -9}
# Seconds after which a process that was told to end counts as one that does not, and as one that outlives its parent.
PATIENCE = 30.0
ORPHANED = 5.0
# Seconds and bytes of a command with a value that nobody means.
SECONDS = 20
MEMORY = 6 * 2**30
# Signals to a command in a directory before it is run in peace again.
KILLS = 8

# Commands by what they write; NAME is replaced.
WRITING = {
    "bifurcation kuramoto --no-rates --to NAME": (".nc", ".json", ".npz", ".mat", ".csv"),
    "stationary kuramoto --coupling 3 --to NAME": (".json", ".npz", ".csv"),
    "evolve kuramoto --coupling 3 --until 5 --times 200 --to NAME": (".nc", ".json", ".csv"),
    "evolve kuramoto --coupling 3 --until 5 --checkpoint run --every 0.05 --to NAME": (".json",),
    "particles kuramoto --coupling 3 --until 20 --particles 2000 --step 0.01 --to NAME": (".nc", ".json", ".csv"),
    "particles kuramoto --coupling 3 --until 9 --particles 2000 --replicas 4 --workers 2 --to NAME": (".nc", ".json"),
    "particles kuramoto --coupling 3 --until 9 --particles 500 --replicas 4 --workers 2 --checkpoint run --to NAME": (
        ".json",
    ),
    "compare kuramoto --coupling 1 --until 0.2 --particles 50 100 --replicas 4 --workers 2 --to NAME": (".nc", ".csv"),
    "sweep kuramoto --over noise 0.5 2 9 --no-rates --store runs --workers 2 --to NAME": (".nc", ".json", ".csv"),
    "sweep kuramoto --over noise 0.5 2 9 --compute states --relative 2 --store runs --to NAME": (".json",),
    "bifurcation transformer --coupling 0.6 --over beta 1 4 --no-rates --to NAME": (".nc", ".json", ".csv"),
    "phase transformer --over beta 2 3 --relative 0.9 1.1 --sections 1 --to NAME": (".nc", ".json", ".csv"),
    "rate kuramoto --coupling 3": ("",),
    "theory kuramoto": ("",),
    "verify circle.T8": ("",),
}  # fmt: skip
PICTURED = {
    "evolve kuramoto --coupling 3 --until 1 --plot NAME": (".png", ".pdf", ".svg"),
    "phase kuramoto --over noise 1 2 --sections 1 --plot NAME": (".png", ".pdf", ".svg"),
}

# Options by the command they are given to.
OPTIONS = {
    "theory transformer --beta 2": ("modes", "coupling", "relative", "noise", "dimension"),
    "stationary kuramoto": ("coupling", "relative", "noise", "dimension"),
    "bifurcation kuramoto --no-rates": ("depth", "tolerance", "max-step", "noise", "dimension"),
    "bifurcation transformer --coupling 0.6 --over beta 1 4 --no-rates": ("depth", "max-step", "noise", "coupling"),
    "phase kuramoto --over noise 1 2": ("sections", "seed", "relative", "dimension"),
    "rate kuramoto": ("coupling", "relative", "noise"),
    "evolve kuramoto --coupling 3 --until 0.5": ("times", "tolerance", "modes", "every", "noise", "concentration"),
    "evolve kuramoto --coupling 3 --until 0.5 --initial von-mises": ("concentration", "mean"),
    "evolve kuramoto --coupling 3 --until 0.5 --domain sphere --initial watson": (
        "concentration",
        "mean",
        "azimuth",
    ),
    "evolve kuramoto --coupling 3 --until 0.5 --initial bumps": ("count", "width"),
    "evolve kuramoto --coupling 3 --until 0.5 --initial perturbed": ("amplitude", "degree"),
    "particles kuramoto --coupling 3 --until 0.1 --particles 10": (
        "replicas",
        "times",
        "degrees",
        "seed",
        "workers",
    ),
    "particles kuramoto --coupling 3 --until 0.1": ("particles", "step", "dimension"),
    "compare kuramoto --coupling 1 --until 0.1 --particles 10 20": (
        "replicas",
        "times",
        "degrees",
        "seed",
        "workers",
    ),
}
HOSTILE = (
    "1000000000",
    "1000000000000",
    "-1",
    "0",
    "nan",
    "inf",
    "-inf",
    "1e300",
    "1e-300",
    "0x10",
    "",
    "1" * 5000,
)


@dataclass(frozen=True)
class Trial:
    """What was tried, and what did not hold: nothing, unless the trial was lost."""

    call: str
    answered: bool
    lost: str = ""
    tries: int = 1


def started(
    arguments: Sequence[str], place: Path, *, limit: Callable[[], object] | None = None, **streams: object
) -> "subprocess.Popen[bytes]":
    """Start a command in a directory and a session of its own, signals not ignored as shells may have it."""

    def prepare() -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
        if limit is not None:
            limit()

    environment = os.environ | {
        "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "TMPDIR": str(place),
    }  # fmt: skip
    command = [sys.executable, "-c", PROGRAM, *arguments]
    return subprocess.Popen(
        command,
        cwd=place,
        env=environment,
        start_new_session=True,
        preexec_fn=prepare,
        **(PIPES | streams),  # type: ignore[call-overload, no-any-return]
    )


PIPES: dict[str, object] = {
    "stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE,
}  # fmt: skip


def members(session: int) -> list[int]:
    """Return the living processes of a session, from /proc."""
    found = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError, IndexError):
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
            if int(fields[3]) == session and fields[0] not in "ZX":
                found.append(int(entry.name))
    return found


def outlived(session: int) -> list[int]:
    """Return the processes of a session that do not end by themselves, and end them."""
    until = time.monotonic() + ORPHANED
    while (left := members(session)) and time.monotonic() < until:
        time.sleep(0.05)
    for process in left:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
    return left


def ended(process: "subprocess.Popen[bytes]") -> tuple[int | None, str]:
    """Return the exit code of a process, None if it does not end, and what it says."""
    try:
        _, said = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        return None, process.communicate()[1].decode(errors="replace")
    return process.returncode, (said or b"").decode(errors="replace").rpartition("\r")[2]


def one_sentence(said: str) -> bool:
    """Whether an error is one line of ours, files written and warnings apart, and no failure of the program itself."""
    lines = [line for line in said.splitlines() if not line.startswith(("wrote ", "meanfield: warning: "))]
    return len(lines) == 1 and lines[0].startswith("meanfield: ") and "unexpected" not in lines[0]


def task(rng: np.random.Generator, commands: dict[str, tuple[str, ...]]) -> tuple[list[str], str]:
    """Draw a command and the name of what it writes."""
    command = str(rng.choice(list(commands)))
    name = f"run{rng.choice(commands[command])}" if "NAME" in command else ""
    arguments = [name if word == "NAME" else word for word in command.split()]
    return [*arguments, "--force"] if name else arguments, name


def kills(rng: np.random.Generator, place: Path) -> Trial:
    """Run a command, send a signal to it at random moments of further runs, look at what is left, and run it again."""
    arguments, name = task(rng, WRITING)
    calls = [shlex.join(arguments)]
    if name:
        (place / name).write_bytes(OLD)
    began = time.monotonic()
    complaint = sound_run(arguments, place, name)
    duration = time.monotonic() - began
    while not complaint and len(calls) <= KILLS:
        number = signal.Signals(int(rng.choice(list(INTERRUPTED))))
        # Files are written in the end.
        group, share = bool(rng.random() < 0.5), 1.05 * float(rng.random()) ** 0.5
        calls.append(f"{number.name} to the {'group' if group else 'process'} after {share:.3f} of the time")
        complaint = killed(arguments, place, name, number, group, share * duration)
    complaint = complaint or sound_run(arguments, place, name) or abandoned(place)
    return Trial("; ".join((calls[0], calls[-1])), not complaint, complaint, len(calls) - 1)


def sound_run(arguments: Sequence[str], place: Path, name: str) -> str:
    """Run a command to its end and return what is wrong with that."""
    for path in place.glob("run*.[ab]"):
        path.unlink()
    shutil.rmtree(place / "runs", ignore_errors=True)
    code, said = ended(started(arguments, place))
    if code != 0:
        return f"undisturbed it ended with {code}: {said}"
    return unsound(place, name) if name else ""


def killed(
    arguments: Sequence[str], place: Path, name: str, number: signal.Signals, group: bool, moment: float
) -> str:
    """Send a signal to a command after some seconds and return what is wrong with what is left."""
    if name:
        (place / name).write_bytes(OLD)
    process = started(arguments, place)
    time.sleep(moment)
    with contextlib.suppress(ProcessLookupError):
        (os.killpg if group else os.kill)(process.pid, number)
    code, said = ended(process)
    left = outlived(process.pid)
    if code is None:
        return f"it did not end: {said}"
    if left:
        return f"{len(left)} processes outlived it"
    # Before the command has begun the interpreter ends in its own way, within a class statement by an error.
    begun = " in main" in said or "KeyboardInterrupt" not in said
    if code not in (0, INTERRUPTED[number], -number) and begun:
        return f"it ended with {code}: {said}"
    if name and (place / name).read_bytes() != OLD and (complaint := unsound(place, name)):
        return f"{name} is neither old nor whole: {complaint}"
    return ""


def abandoned(place: Path) -> str:
    """Return the names of files that nobody asked for."""
    names = sorted(path.name for path in place.iterdir() if not path.name.startswith("run"))
    names += sorted(str(path.relative_to(place)) for path in place.glob("runs/**/*.part"))
    return f"left behind: {', '.join(names)}" if names else ""


def unsound(place: Path, name: str) -> str:
    """Return what is wrong with a file that a command has written, of formats that are read back."""
    from meanfield import MeanfieldError
    from meanfield.export.opening import open_record
    from meanfield.export.states import open_states

    path = place / name
    if path.suffix in (".csv", ".mat"):
        return "" if path.stat().st_size else "it is empty"
    if path.suffix in (".png", ".pdf", ".svg"):
        beginnings = (b"\x89PNG", b"%PDF", b"<?xml")
        return "" if path.read_bytes().startswith(beginnings) else "it is no picture"
    for opened in (open_record, open_states):
        try:
            opened(path)
        except MeanfieldError as error:
            complaint = str(error)
        else:
            return ""
    return complaint


def streams(rng: np.random.Generator, place: Path) -> Trial:
    """Run a command whose standard streams cannot be written."""
    arguments, name = task(rng, WRITING | PICTURED)
    broken = {stream: str(rng.choice(["closed", "full", "unread", "sound"])) for stream in ("stdout", "stderr")}
    call = f"{shlex.join(arguments)}: " + ", ".join(f"{stream} {how}" for stream, how in broken.items())
    closed = [number for number, how in zip((1, 2), broken.values(), strict=True) if how == "closed"]

    def close() -> None:
        for number in closed:
            os.close(number)

    with contextlib.ExitStack() as stack:
        given = {stream: _stream(how, stream, stack) for stream, how in broken.items()}
        process = started(arguments, place, limit=close, **given)
    code, said = ended(process)
    if left := outlived(process.pid):
        return Trial(call, False, f"{len(left)} processes outlived it")
    expected = {"sound": (0,), "closed": (1,), "full": (1,), "unread": (141,)}[broken["stdout"]]
    if code not in expected:
        return Trial(call, False, f"it ended with {code}, not {expected[0]}: {said}")
    if name and (complaint := unsound(place, name)):
        return Trial(call, False, f"{name} is not whole: {complaint}")
    return Trial(call, True, abandoned(place))


def _stream(how: str, stream: str, stack: contextlib.ExitStack) -> int | object:
    if how == "full":
        return stack.enter_context(Path("/dev/full").open("wb"))
    if how == "unread":
        reading, writing = os.pipe()
        os.close(reading)
        stack.callback(os.close, writing)
        return writing
    return subprocess.PIPE if (how, stream) == ("sound", "stderr") else subprocess.DEVNULL


def disks(rng: np.random.Generator, place: Path) -> Trial:
    """Run a command on a disk that is full after some bytes."""
    arguments, name = task(
        rng, {key: value for key, value in (WRITING | PICTURED).items() if "--to" in key or "plot" in key}
    )
    size = int(10 ** rng.uniform(2, 5))
    call = f"{shlex.join(arguments)}: files of at most {size} bytes"
    (place / name).write_bytes(OLD)

    def full() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    process = started(arguments, place, limit=full)
    code, said = ended(process)
    if code == 0:
        complaint = unsound(place, name)
    elif code not in (1, 2) or not one_sentence(said):
        complaint = f"it ended with {code}: {said}"
    else:
        complaint = "" if (place / name).read_bytes() == OLD else "the old file is gone"
    return Trial(call, not complaint, complaint or abandoned(place))


def values(rng: np.random.Generator, place: Path) -> Trial:
    """Give an option a value that nobody means."""
    command = str(rng.choice(list(OPTIONS)))
    arguments = [*command.split(), f"--{rng.choice(OPTIONS[command])}={rng.choice(HOSTILE)}"]
    call = shlex.join(arguments)[:200]

    def bound() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))

    code, said = ended(started(arguments, place, limit=bound))
    if code == 0:
        return Trial(call, True)
    right = code in (1, 2) and one_sentence(said)
    return Trial(call, right, "" if right else f"it ended with {code}: {said[-500:]}")


KINDS = {"kills": kills, "streams": streams, "disks": disks, "values": values}


def trial(kind: str, seed: int, index: int) -> Trial:
    """Return one trial, in a directory of its own."""
    with tempfile.TemporaryDirectory() as directory:
        return KINDS[kind](np.random.default_rng([seed, index]), Path(directory))


def main() -> int:
    """Run the kinds asked for and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=f"of {', '.join(KINDS)}; all if none")
    parser.add_argument("--trials", type=int, default=30, help="trials a kind (default 30)")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="at most so many minutes a kind")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="index of the first trial")
    options = parser.parse_args()
    if unknown := sorted(set(options.kinds) - set(KINDS)):
        parser.error(f"no kind {unknown[0]!r}; there are {', '.join(KINDS)}")
    table: dict[str, Counter[str]] = {}
    for kind in options.kinds or KINDS:
        counts = table[kind] = Counter()
        since = time.monotonic()
        for index in range(options.first, options.first + options.trials):
            if time.monotonic() - since > 60.0 * options.minutes:
                break
            found = trial(kind, options.seed, index)
            lost = bool(found.lost)
            counts.update(tried=found.tries, answered=found.tries - (not found.answered), lost=int(lost))
            if found.lost:
                print(
                    f"{kind} --seed {options.seed} --first {index} --trials 1\n    {found.call}\n    {found.lost}"
                )
                sys.stdout.flush()
    print(f"{'kind':12}{'tried':>8}{'answered':>10}{'lost':>8}   seed {options.seed}")
    for kind, counts in table.items():
        print(f"{kind:12}{counts['tried']:8}{counts['answered']:10}{counts['lost']:8}")
    return int(any(counts["lost"] for counts in table.values()))


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    sys.exit(main())
