"""What the rows of `bench_judging.py` share: sessions, stores, processes and the printed line."""

from __future__ import annotations

import importlib.util
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import longjudge

if TYPE_CHECKING:
    from messages_process import ServerProcess

HERE = Path(__file__).parent
CHUNK_CHARS = 30_000


def say(line: str) -> None:
    """Print a line at once, so that a long run shows where it is."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def report(row: str, name: str, measured: str, goal: str, gate: str, beside: str = "") -> None:
    """One line of the table, and below it what the number is made of."""
    say(f"{row:<4}{name:<57}{measured:<10}goal {goal:<9}gate {gate}")
    if beside:
        say(f"    {beside}")


def write_session(path: Path, chunks: int, chars: int) -> Path:
    """Write a session of about so many chunks of a size, the same for the same numbers."""
    if path.exists():
        return path
    rng = random.Random(20240229)
    words = ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz_", k=8)) for _ in range(4_000)]
    pool = [" ".join(rng.choices(words, k=500)) for _ in range(100)]
    size = min(chars - 60, 1_500)
    with path.open("w", encoding="utf-8") as file:
        for number in range(max(1, chunks * (chars // (size + 60)))):
            text = f"{number:06d} {rng.choice(pool)}"[: size - rng.randrange(size // 20 + 1)]
            event = {"kind": "assistant_message", "text": text}
            if number % 3 == 1:
                event = {"kind": "tool_result", "tool": "Bash", "output": text}
            elif number % 30 == 0:
                event = {"kind": "tool_call", "tool": "Bash", "input": {"command": text[:80]}}
            file.write(json.dumps(event) + "\n")
    return path


@dataclass(frozen=True, slots=True)
class Place:
    """Where a run's files are, and who answers; `seed` is the script of row 16."""

    folder: Path
    seed: Path | None

    def store(self) -> str:
        """A file for a store that nobody has used."""
        folder = Path(tempfile.mkdtemp(dir=self.folder))
        return str(folder / "store.sqlite")

    def session(self, chunks: int, chars: int = CHUNK_CHARS) -> str:
        """A session of about so many chunks."""
        return str(write_session(self.folder / f"{chunks}-{chars}.jsonl", chunks, chars))


def environment(server: ServerProcess | None) -> dict[str, str]:
    """What a child gets: no foreign settings, the server's address and a key that is none."""
    own = {
        name: value
        for name, value in os.environ.items()
        if not name.upper().startswith(("ANTHROPIC_", "LONGJUDGE_", "JUDGE_"))
        and not name.upper().endswith("_PROXY")
    }
    if server is None:
        return own
    return {**own, "ANTHROPIC_BASE_URL": server.address, "ANTHROPIC_API_KEY": "none"}


def child(
    work: str,
    server: ServerProcess | None,
    *,
    python: str = sys.executable,
    paths: str = "",
    cwd: Path | None = None,
    **arguments: object,
) -> dict[str, Any]:
    """Do one work in a process of its own, and read what it prints."""
    words = [str(HERE / "judging_child.py"), work, json.dumps(arguments)]
    if work == "screen":
        words = [str(HERE / "judging_screen.py"), json.dumps(arguments)]
    env = environment(server) | ({"PYTHONPATH": paths} if paths else {})
    ended = subprocess.run(
        [python, *words], env=env, cwd=cwd, stdout=subprocess.PIPE, check=True, text=True
    )
    return json.loads(ended.stdout.splitlines()[-1])


def python_with_ndbm() -> tuple[str, str] | None:
    """A Python of this version whose shelf is ndbm, and where it finds this one's packages."""
    if importlib.util.find_spec("_dbm"):
        return sys.executable, ""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    here = str(Path(longjudge.__file__).parents[1])
    packages = [path for path in sys.path if Path(path).name == "site-packages"]
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        python = shutil.which(version, path=folder)
        if python is None:
            continue
        words = [python, "-c", "import dbm.ndbm"]
        if not subprocess.run(words, capture_output=True, check=False).returncode:
            return python, os.pathsep.join([here, *packages])
    return None


def find_seed(named: str | None) -> Path | None:
    """The script of row 16, where there is one."""
    named = named or os.environ.get("LONGJUDGE_SEED")
    path = Path(named) if named else HERE.parents[2] / "shared" / "seed"
    if path.is_dir():
        return next(iter(sorted(path.glob("*.py"))), None)
    return path if path.is_file() else None
