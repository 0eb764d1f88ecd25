"""From the name of a model or a profile to the judge behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.prices import OFFLINE_MODEL
from longjudge.settings import DEFAULT_MODEL

if TYPE_CHECKING:
    from longjudge.config import Configuration
    from longjudge.judges.access import Access
    from longjudge.judges.base import Judge
    from longjudge.judges.batch_api import BatchApi
    from longjudge.models import ModelNotice


def make_judge(
    model: str | None,
    config: Configuration | None = None,
    *,
    freeze_after_import: bool = False,
) -> Judge:
    """The judge behind a name; connects to nothing and looks for no credential.

    A profile of the configuration wins over a model of the same name; None is the default model.
    `freeze_after_import` takes what importing the SDK leaves out of the garbage collector's
    sight, which spares a program's event loop a pause of 0.1 s; a library leaves it alone.
    """
    # Only the judge that was chosen is loaded.
    if model == OFFLINE_MODEL:
        from longjudge.judges.offline import OfflineJudge

        return OfflineJudge()
    from longjudge.judges.access import profile_access
    from longjudge.judges.anthropic import AnthropicJudge

    name = model or DEFAULT_MODEL
    profile = config.profiles.get(name) if config is not None else None
    if profile is None:
        return AnthropicJudge(name, freeze_after_import=freeze_after_import)
    return AnthropicJudge(
        profile.model,
        access=profile_access(name, profile),
        freeze_after_import=freeze_after_import,
    )


def batch_api(judge: Judge) -> BatchApi:
    """The queue behind a judge's endpoint; connects to nothing."""
    # Only what was chosen is loaded.
    if judge.judges_meaning:
        from longjudge.judges.anthropic import AnthropicJudge
        from longjudge.judges.anthropic_batches import AnthropicBatches

        if isinstance(judge, AnthropicJudge):
            return AnthropicBatches(judge)
    from longjudge.judges.offline_batches import OfflineBatches

    return OfflineBatches(judge)


def missing_credential(model: str | None, config: Configuration | None = None) -> str | None:
    """What is missing to ask a model or profile, in a few words; None where something is there.

    What is there may still turn out to be broken. The SDK is not loaded.
    """
    access = _access(model, config)
    return access.missing() if access is not None else None


def credential_fault(model: str | None, config: Configuration | None = None) -> str | None:
    """What is missing to ask a model or profile, or broken, in a few words; None if nothing is.

    The SDK is not loaded.
    """
    access = _access(model, config)
    return access.missing() or access.fault() if access is not None else None


def _access(model: str | None, config: Configuration | None) -> Access | None:
    """How a model or profile is reached; None for the offline rules."""
    if model == OFFLINE_MODEL:
        return None
    from longjudge.judges.access import environment_access, profile_access

    name = model or DEFAULT_MODEL
    profile = config.profiles.get(name) if config is not None else None
    return profile_access(name, profile) if profile is not None else environment_access()


def notice_about(model: str | None, config: Configuration | None = None) -> ModelNotice | None:
    """What to know about a model or profile before it is asked; None where that is nothing.

    A profile with an address of its own has names of its own. Nobody is asked; the first call
    takes 0.2 s, and may be made in a thread.
    """
    from longjudge.judges.access import profile_access
    from longjudge.models import model_notice

    name = model or DEFAULT_MODEL
    profile = config.profiles.get(name) if config is not None and name != OFFLINE_MODEL else None
    if profile is None:
        return model_notice(name)
    return None if profile_access(name, profile).own_address else model_notice(profile.model)
