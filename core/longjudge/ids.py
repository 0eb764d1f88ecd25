"""Names for judgments and batches, unique without asking anyone."""

from __future__ import annotations

import secrets
import time

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"


def judgment_id() -> str:
    """`j_` and 26 characters: 48 bits of milliseconds, then 80 random bits, in base 32."""
    number = (int(time.time() * 1000) << 80) | secrets.randbits(80)
    return "j_" + "".join(_ALPHABET[(number >> shift) & 31] for shift in range(125, -1, -5))


def random_id(characters: int = 10) -> str:
    """Lower-case letters and digits, 5 random bits each."""
    return "".join(secrets.choice(_ALPHABET) for _ in range(characters))
