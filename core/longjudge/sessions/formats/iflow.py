"""Results as iFlow wraps them in the transcripts that it writes as Claude Code does."""

from __future__ import annotations

from longjudge.sessions.formats.foreign_blocks import foreign_block
from longjudge.sessions.values import is_array, is_object

WRAPPED = "responseParts"


def unwrapped_result(content: dict[str, object]) -> tuple[object, bool | None]:
    """What a tool gave, out of the parts of its answer, and whether it failed.

    The wrapper repeats the call's id, and the output once more for the screen.
    """
    parts = content.get(WRAPPED)
    outputs: list[object] = []
    failed: bool | None = None
    for part in parts if is_array(parts) else [parts]:
        block = foreign_block(part)
        output = block.get("content") if block.get("type") == "tool_result" else part
        outputs.append(output)
        failed = True if block.get("is_error") is True else failed
    if len(outputs) == 1:
        return outputs[0], failed
    return [each if is_object(each) else {"type": "text", "text": each} for each in outputs], failed
