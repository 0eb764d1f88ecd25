"""Says once, before a command asks or prices anything, what is wrong with the model's name."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from longjudge.judges.make import notice_about
from longjudge.streams import tell

if TYPE_CHECKING:
    from longjudge.cli.options import Judging


class ModelNote:
    """That a model is deprecated, retired or unknown; a run (`asks`) goes on all the same."""

    def __init__(self, judging: Judging, *, asks: bool = False) -> None:
        self._model = judging.choice().model
        self._config = judging.config
        self._asks = asks
        self._looked = False

    async def say(self, to_ask: int) -> None:
        """Say it on stderr, the first time that there is something to ask."""
        if self._looked or not to_ask:
            return
        self._looked = True
        # The price table is loaded for it where nothing else has loaded it yet.
        notice = await asyncio.to_thread(notice_about, self._model, self._config)
        if notice is not None:
            tell(f"longjudge: {notice.text}{'; asking anyway' if self._asks else ''}")
