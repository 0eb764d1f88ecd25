"""Damages real session files at random, byte by byte and value by value, and loads what is left.

    python tests/fuzz_sessions.py --mutations 20000 --seed 1

Each mutation is loaded in a worker process with bounded memory and time. Anything but a session
that reads back as it was indexed, or a refusal in one line, is a find; a mutation is made again
from its seed by `--only SEED`. Files come from the samples, and from the corpus where there is one.
"""

from __future__ import annotations

import argparse
import bz2
import gc
import gzip
import io
import json
import lzma
import multiprocessing
import os
import random
import sys
import tempfile
import time
import traceback
import zipfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import zstandard

from corpus import CORPUS, corpus_files
from longjudge.errors import SessionError
from longjudge.sessions import load_sessions
from longjudge.sessions.model import text_digest
from longjudge.text import clean_line

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from multiprocessing.connection import Connection

SAMPLES = Path(__file__).parents[1] / "sample_sessions"
MAX_FILE_BYTES = 400_000
SECONDS_A_FILE = 1.0
SECONDS_A_MEGABYTE = 1.0
HANG_SECONDS = 30.0
MEMORY_BYTES = 2 << 30
EVENTS_READ_AGAIN = 400
EVENTS_A_SESSION = 40
READ_TWICE_BYTES = 60_000

INSERTED = (
    *(b"\0", b"\0" * 300, b"\n", b"\r\n", b'"', b'\\"', b"\\", b"{", b"}", b"[", b"]", b",", b":"),
    *(b"}{", b"\xef\xbb\xbf", b"\xff", b"\xc3", b"\xed\xa0\xbd", b"\\ud83d", b"\\u0000"),
    *("\u2028".encode(), "\u0085".encode(), b"\x1b[31m", b"null", b"NaN", b"1e999"),
    *(b"[" * 3000, b'{"a":' * 3000, b"9" * 5000, b"\n" * 50, b'{"type":', b"<html>"),
)
VALUES: tuple[object, ...] = (
    *(None, True, False, 0, -1, 1e300, 10**30, "", "x", "\ud83d", "\0", "a\nb", [], {}, [[]]),
    *([{}], {"a": {}}, [None], "2025-01-01T00:00:00Z", 1735689600000, {"type": "text"}, ["x"]),
    *([1, "x", None, {}], {"text": None}, {"content": [1]}, "{", "[1]", '{"a": 1}', " " * 40),
)


@dataclass(frozen=True)
class Find:
    seed: str
    file: str
    fault: str


def seed_files() -> list[Path]:
    """Every file that is small enough to be mutated often."""
    corpus = [CORPUS / name for name in corpus_files()]
    files = [*sorted(SAMPLES.glob("*")), *corpus]
    most = int(os.environ.get("FUZZ_MAX_BYTES", MAX_FILE_BYTES))
    return [path for path in files if path.is_file() and 0 < path.stat().st_size <= most]


def mutated(rng: random.Random, data: bytes, other: bytes) -> bytes:
    """The data with one to six faults."""
    for _ in range(rng.choice((1, 1, 1, 2, 3, 6))):
        data = rng.choice(MUTATIONS)(rng, data, other)
    return data


def _place(rng: random.Random, data: bytes) -> tuple[int, int]:
    start = rng.randrange(len(data) + 1)
    return start, min(len(data), start + rng.choice((1, 1, 3, 20, 200, 5000)))


def _flip(rng: random.Random, data: bytes, _: bytes) -> bytes:
    start, _end = _place(rng, data)
    return data[:start] + bytes([rng.randrange(256)]) + data[start + 1 :]


def _delete(rng: random.Random, data: bytes, _: bytes) -> bytes:
    start, end = _place(rng, data)
    return data[:start] + data[end:]


def _duplicate(rng: random.Random, data: bytes, _: bytes) -> bytes:
    start, end = _place(rng, data)
    return data[:end] + data[start:end] + data[end:]


def _splice(rng: random.Random, data: bytes, other: bytes) -> bytes:
    start, end = _place(rng, other)
    at = rng.randrange(len(data) + 1)
    return data[:at] + other[start:end] + data[at:]


def _truncate(rng: random.Random, data: bytes, _: bytes) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def _behead(rng: random.Random, data: bytes, _: bytes) -> bytes:
    return data[rng.randrange(min(len(data), 2000) + 1) :]


def _insert(rng: random.Random, data: bytes, _: bytes) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] + rng.choice(INSERTED) + data[at:]


def _swap(rng: random.Random, data: bytes, _: bytes) -> bytes:
    a, b, c = sorted(rng.randrange(len(data) + 1) for _ in range(3))
    return data[:a] + data[b:c] + data[a:b] + data[c:]


def _lines(rng: random.Random, data: bytes, other: bytes) -> bytes:
    lines = data.split(b"\n")
    at = rng.randrange(len(lines))
    what = rng.randrange(4)
    if what == 0:
        del lines[at]
    elif what == 1:
        lines.insert(at, rng.choice(lines))
    elif what == 2:
        lines.insert(at, rng.choice(other.split(b"\n")))
    else:
        rng.shuffle(lines)
    return b"\n".join(lines)


def _encode(rng: random.Random, data: bytes, _: bytes) -> bytes:
    if rng.random() < 0.5:
        return data.replace(b"\n", b"\r\n")
    return data.decode("utf-8", "replace").encode(rng.choice(("utf-16", "utf-16-le")))


def _pack(rng: random.Random, data: bytes, _: bytes) -> bytes:
    """Compress it, and damage that."""
    packed = rng.choice(PACKERS)(data)
    damage = rng.choice((_flip, _delete, _truncate, _insert, _swap))
    return damage(rng, packed, data) if rng.random() < 0.8 else packed


def _zipped(data: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("a.jsonl", "b.jsonl"):
            archive.writestr(zipfile.ZipInfo(name), data[: len(data) // 2 or 1])
    return file.getvalue()


PACKERS: tuple[Callable[[bytes], bytes], ...] = (
    lambda data: gzip.compress(data, 1, mtime=0),
    lambda data: bz2.compress(data, 1),
    lambda data: lzma.compress(data, preset=0),
    zstandard.ZstdCompressor().compress,
    _zipped,
)


def _value(rng: random.Random, data: bytes, _: bytes) -> bytes:
    """Give a few values of the document, or of a record, another type."""
    lines = [data]
    at = 0
    try:
        value = json.loads(data)
    except ValueError:
        lines = data.split(b"\n")
        at = rng.randrange(len(lines))
        try:
            value = json.loads(lines[at])
        except (ValueError, RecursionError):
            return data
    except RecursionError:
        return data
    for _ in range(rng.choice((1, 2, 5))):
        value = _changed(rng, value)
    lines[at] = json.dumps(value, ensure_ascii=rng.random() < 0.5).encode("utf-8", "surrogatepass")
    return b"\n".join(lines)


def _changed(rng: random.Random, value: object) -> object:
    if isinstance(value, dict) and value and rng.random() < 0.9:
        key = rng.choice(list(value))
        what = rng.random()
        if what < 0.1:
            return {name: item for name, item in value.items() if name != key}
        if what < 0.15:
            return {**value, rng.choice(("type", "role", "content", "id", "")): value[key]}
        return {**value, key: _changed(rng, value[key])}
    if isinstance(value, list) and value and rng.random() < 0.9:
        at = rng.randrange(len(value))
        if rng.random() < 0.1:
            return value[:at] + value[at + 1 :]
        return [*value[:at], _changed(rng, value[at]), *value[at + 1 :]]
    return rng.choice(VALUES)


MUTATIONS: tuple[Callable[[random.Random, bytes, bytes], bytes], ...] = (
    *(_flip, _delete, _duplicate, _splice, _truncate, _behead, _insert, _insert, _swap, _lines),
    *(_encode, _pack, _value, _value, _value, _value),
)


def mutation(seed: str, files: Sequence[Path]) -> tuple[Path, bytes]:
    """What a seed stands for."""
    rng = random.Random(seed)
    path, other = rng.choice(files), rng.choice(files)
    return path, mutated(rng, path.read_bytes(), other.read_bytes())


def fault_of(path: Path) -> str | None:
    """What is wrong with how a file loads, None where nothing is."""
    began, descriptors = time.process_time(), _open_descriptors()
    try:
        fault = _loading_fault(path)
    except Exception:  # noqa: BLE001 - whatever it is, it is the find.
        lines = traceback.format_exc().strip().split("\n")
        where = next((line.strip() for line in reversed(lines[:-1]) if "File" in line), "")
        fault = f"{lines[-1][:120]} | {where[-90:]}"
    took = time.process_time() - began
    most = SECONDS_A_FILE + SECONDS_A_MEGABYTE * path.stat().st_size / 1e6
    if fault is None and took > most:
        fault = f"slow: {took:.1f} s of computing, at most {most:.1f}"
    if fault is None and _open_descriptors() > descriptors:
        # What is held by nothing but a ring of objects is closed with it.
        gc.collect()
        if _open_descriptors() > descriptors:
            fault = "a descriptor is left open"
    return fault


def _loading_fault(path: Path) -> str | None:
    try:
        sessions = load_sessions(path)
    except SessionError as refusal:
        words = str(refusal)
        if "too large for the memory" in words:
            return "out of memory"
        return None if words == clean_line(words, 2000) else f"a refusal that acts: {words!r}"
    read = 0
    try:
        for session in sessions:
            session.describe()
            count = len(session.index)
            if not count:
                return "a session without events"
            for number in range(0, count, max(1, count // EVENTS_A_SESSION)):
                read += 1
                if read > EVENTS_READ_AGAIN:
                    break
                words = session.text(number)
                words.encode()
                session.raw(number)
                session.line(number)
                session.file(number)
                if text_digest(words) != session.index.digest(number):
                    return "a text reads back otherwise"
            if len(session.id) > 220 or session.title != clean_line(session.title, 1000):
                return "an id or title that acts"
            if any(note.reason != clean_line(note.reason, 2000) for note in session.diagnostics):
                return "a diagnostic that acts"
        if path.stat().st_size < READ_TWICE_BYTES:
            again = load_sessions(path)
            same = [each.index.digests for each in again] == [
                each.index.digests for each in sessions
            ]
            for session in again:
                session.close()
            if not same:
                return "loads otherwise the second time"
    finally:
        for session in sessions:
            session.close()
    return None


def _open_descriptors() -> int:
    return len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0


def _work(pipe: Connection) -> None:
    """Load one mutation after the other, as told."""
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    files = seed_files()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mutation"
        while True:
            seed = pipe.recv()
            if seed is None:
                return
            origin, data = mutation(seed, files)
            path.write_bytes(data)
            pipe.send((origin.name, fault_of(path)))


class Worker:
    """A process that is replaced when it dies or hangs."""

    def __init__(self) -> None:
        self._context = multiprocessing.get_context("spawn")
        self._start()

    def _start(self) -> None:
        self.pipe, theirs = self._context.Pipe()
        self._process = self._context.Process(target=_work, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()
        self.seed: str | None = None
        self.began = 0.0

    def give(self, seed: str) -> None:
        self.seed, self.began = seed, time.monotonic()
        self.pipe.send(seed)

    def taken(self) -> tuple[str, str | None] | None:
        """What came of the seed, None while it goes on."""
        try:
            if self.pipe.poll(0.05):
                return self.pipe.recv()
        except (EOFError, OSError):
            return "?", self._replace("the process died")
        if time.monotonic() - self.began > HANG_SECONDS:
            return "?", self._replace("hangs")
        return None

    def _replace(self, fault: str) -> str:
        self._process.kill()
        self._process.join()
        self.pipe.close()
        self._start()
        return fault

    def stop(self) -> None:
        self.pipe.send(None)
        self._process.join()
        self.pipe.close()


def fuzz(seeds: Sequence[str], workers: int) -> tuple[list[Find], Counter[str]]:
    """Load every mutation; returns the finds, and how many of each kind of file were tried."""
    finds: list[Find] = []
    tried: Counter[str] = Counter()
    pending = iter(seeds)
    crew = [Worker() for _ in range(workers)]
    busy: list[Worker] = []
    for worker in crew:
        if (seed := next(pending, None)) is not None:
            worker.give(seed)
            busy.append(worker)
    while busy:
        for worker in list(busy):
            seed = worker.seed or ""
            outcome = worker.taken()
            if outcome is None:
                continue
            name, fault = outcome
            tried[name] += 1
            if fault is not None:
                finds.append(Find(seed, name, fault))
            if (following := next(pending, None)) is None:
                busy.remove(worker)
            else:
                worker.give(following)
    for worker in crew:
        worker.stop()
    return finds, tried


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mutations", type=int, default=2000)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--save", type=Path, help="keep the mutations that are finds here")
    parser.add_argument("--only", help="load the mutation of one seed in this process")
    options = parser.parse_args()
    files = seed_files()
    if options.only:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "mutation"
            origin, data = mutation(options.only, files)
            path.write_bytes(data)
            print(origin, len(data), fault_of(path))  # noqa: T201
        return 0
    seeds = [f"{options.seed}:{number}" for number in range(options.mutations)]
    began = time.monotonic()
    finds, tried = fuzz(seeds, options.workers)
    faults = Counter(find.fault for find in finds)
    rows = [f"{count:6}  {fault}" for fault, count in faults.most_common()]
    firsts = [f"{find.seed:>12}  {find.file:40.40}  {find.fault}" for find in finds[:200]]
    seconds = time.monotonic() - began
    head = f"{sum(tried.values())} mutations of {len(tried)} files in {seconds:.0f} s"
    print("\n".join([f"{head}: {len(finds)} finds", *rows, *firsts]))  # noqa: T201
    if options.save and finds:
        options.save.mkdir(parents=True, exist_ok=True)
        for find in finds:
            _, data = mutation(find.seed, files)
            (options.save / find.seed.replace(":", "-")).write_bytes(data)
    return 1 if finds else 0


if __name__ == "__main__":
    sys.exit(main())
