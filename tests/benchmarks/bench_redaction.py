"""How fast secrets are found: in ordinary text, and in texts made to take long.

Run it: `python tests/benchmarks/bench_redaction.py [SESSION ...]`. Times are those of the
processor, and each is also given as a multiple of one pass of `bytes.find` over the same text.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from longjudge.redaction import redact
from longjudge.sessions import load_sessions

if TYPE_CHECKING:
    from collections.abc import Callable

HOSTILE_CHARS = 2_000_000
SAMPLES = Path(__file__).parents[2] / "sample_sessions"

HOSTILE = {
    "one long run": "a",
    "heads of runs": "gh" + "p_",
    "dashes": "sk-",
    "web tokens": "ey" + "J-",
    "web tokens in pieces": "ey" + "Jaaaaaaaaaaaaaaaaaaaaaaaa.",
    "names": "token=",
    "names in quotes": '"password": "',
    "names and blanks": "secret =        ",
    "escaped quotes": '\\"token\\":\\"',
    "addresses": "://a:",
    "addresses that go on": "://a:b@",
    "key blocks": "-----BEGIN " + "PRIVATE KEY-----",
    "key blocks with lines": "-----BEGIN " + "PRIVATE KEY-----\n" + "A" * 64 + "\n",
    "cookies": "cookie:",
    "cookie pairs": "cookie: sessionid=a;",
    "headers": "authorization: bearer ",
    "users": "curl -u a:",
    "signatures": "sig=a&se=sv=",
    "options": "--password ",
    "placeholders": "[redacted token=abc123def456",
    "secrets": 'api_key="k3y9x8w7v6u5t4s3r2"\n',
    "different secrets": "",
}


def seconds(work: Callable[[], object], times: int = 3) -> float:
    """The least processor time of a few turns."""
    taken: list[float] = []
    for _ in range(times):
        started = time.process_time()
        work()
        taken.append(time.process_time() - started)
    return min(taken)


def report(name: str, text: str) -> None:
    """One line about one text."""
    raw = text.encode("ascii", "replace")
    base = max(seconds(lambda: raw.find(b"\x00zq")), 1e-9)
    taken = seconds(lambda: redact(text))
    say(name, len(text), taken, f"×{taken / base:.0f}")


def say(name: str, chars: int, taken: float, more: str = "") -> None:
    """Print a line."""
    size, speed = chars / 1e6, chars / taken / 1e6
    sys.stdout.write(f"{name:<24} {size:6.2f} MB {taken:7.3f} s {speed:7.1f} MB/s  {more}\n")


def hostile(name: str) -> str:
    """A text of one thing over and over."""
    if name == "different secrets":
        return "\n".join(f'api_key="k3y{n:08}x8w7v6u5t4"' for n in range(HOSTILE_CHARS // 33))
    unit = HOSTILE[name]
    return unit * (HOSTILE_CHARS // len(unit))


def main() -> None:
    """Ordinary text first."""
    paths = [Path(each) for each in sys.argv[1:]] or sorted(SAMPLES.iterdir())
    texts = [
        session.text(event)
        for path in paths
        for session in load_sessions(path)
        for event in range(len(session.index))
    ]
    redact("password=warm-up-1")
    report("ordinary, in one piece", "\n".join(texts))
    taken = seconds(lambda: [redact(text) for text in texts])
    say("ordinary, by event", sum(map(len, texts)), taken)
    for name in HOSTILE:
        report(name, hostile(name))


if __name__ == "__main__":
    main()
