"""How a model is reached: which address, which credential, and what may be sent along.

What the environment holds for the SDK goes only where it would go without a profile. A profile
with an address of its own gets the key of the variable that it names, or none at all.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from longjudge.errors import CredentialError
from longjudge.judges.credentials import (
    KEY,
    StaticCredential,
    base_url,
    endpoint_of,
    header_credential,
    header_fault,
    header_names,
    may_have_profile,
    static_base_url,
    static_credential,
)
from longjudge.text import clean_line

if TYPE_CHECKING:
    from longjudge.config import Profile
    from longjudge.prices import Price

_HARMLESS_HEADERS = frozenset({"accept", "anthropic-version", "content-type", "user-agent"})


class CredentialFrom(Enum):
    """Where the credential of a request comes from."""

    SDK = "what the SDK reads"
    VARIABLE = "the variable that a profile names"
    NOWHERE = "nowhere: none is sent"


@dataclass(frozen=True, slots=True)
class Access:
    """One way to a model; `setting` is what to mend where the address is wrong."""

    base_url: str
    setting: str = "ANTHROPIC_BASE_URL"
    credential: CredentialFrom = CredentialFrom.SDK
    variable: str = KEY
    own_address: bool = False
    profile: str = ""
    price: Price | None = None
    stream: bool = False

    def static(self) -> StaticCredential | None:
        """The key or token to hand over; None where the SDK finds one, or none is sent.

        Raises:
            CredentialError: the variable that a profile names is not set.
        """
        if self.credential is CredentialFrom.SDK:
            return static_credential()
        if self.credential is CredentialFrom.NOWHERE:
            return None
        value = os.environ.get(self.variable)
        if not value:
            raise CredentialError(
                f"{self.variable} is not set, and profile {clean_line(self.profile, 80)} reads its"
                " key from it; set it, or use `--model offline`"
            )
        return StaticCredential(self.variable, value)

    def missing(self) -> str | None:
        """What is not there, in a few words; None where a credential is there or none is sent."""
        if self.credential is CredentialFrom.VARIABLE:
            return None if os.environ.get(self.variable) else f"{self.variable} is not set"
        if self.credential is CredentialFrom.NOWHERE:
            return None
        found = static_credential() or header_credential() or may_have_profile()
        return None if found else f"{KEY} is not set"

    def fault(self) -> str | None:
        """What keeps a credential that is there from being sent, in a few words; None if nothing.

        A profile on disk and a federation are not looked into.
        """
        static = None if self.missing() else self.static()
        found = static.fault if static is not None else None
        return found or header_fault(self.withheld_headers())

    def withheld_headers(self) -> list[str]:
        """Names of the environment's extra headers, which must not reach this address."""
        if not self.own_address:
            return []
        return [name for name in header_names() if name.lower() not in _HARMLESS_HEADERS]


def environment_access() -> Access:
    """The way of a model without a profile: all as the SDK chooses it."""
    return Access(base_url())


def profile_access(name: str, profile: Profile) -> Access:
    """The way that a profile describes."""
    from_sdk = base_url()
    url = profile.base_url or (static_base_url() if profile.key_variable else from_sdk)
    own_address = endpoint_of(url) != endpoint_of(from_sdk)
    credential = CredentialFrom.NOWHERE if own_address else CredentialFrom.SDK
    return Access(
        base_url=url,
        setting=f"profiles.{name}.base_url" if profile.base_url else "ANTHROPIC_BASE_URL",
        credential=CredentialFrom.VARIABLE if profile.key_variable else credential,
        variable=profile.key_variable or KEY,
        own_address=own_address,
        profile=name,
        price=profile.price.to_price() if profile.price else None,
        stream=profile.stream,
    )
