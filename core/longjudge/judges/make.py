"""From a model's name to the judge behind it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from longjudge.errors import UsageError
from longjudge.prices import OFFLINE_MODEL
from longjudge.settings import DEFAULT_MODEL

if TYPE_CHECKING:
    from longjudge.judges.base import Judge


def chosen_model(option: str | None) -> str:
    """The model to ask: the option, else `JUDGE_MODEL`, else the default.

    Raises:
        UsageError: it is blank or holds a control character.
    """
    model = option if option is not None else os.environ.get("JUDGE_MODEL") or DEFAULT_MODEL
    if not model.strip() or not model.isprintable() or model != model.strip():
        raise UsageError("the model's name is blank or holds white space; name one with --model")
    return model


def make_judge(model: str, *, freeze_after_import: bool = False) -> Judge:
    """The judge behind a model's name; connects to nothing and looks for no credential.

    `freeze_after_import` takes what importing the SDK leaves out of the garbage collector's
    sight, which spares a program's event loop a pause of 0.1 s; a library leaves it alone.
    """
    # Only the judge that was chosen is loaded.
    if model == OFFLINE_MODEL:
        from longjudge.judges.offline import OfflineJudge

        return OfflineJudge()
    from longjudge.judges.anthropic import AnthropicJudge

    return AnthropicJudge(model, freeze_after_import=freeze_after_import)
