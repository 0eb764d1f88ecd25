"""A small storage folder of OpenCode: a session in fragments, with a deletion nobody asked for."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def opencode_storage(folder: Path) -> Path:
    """Write the fragments of one session below a folder."""
    rows: dict[str, dict[str, object]] = {
        "session/p/ses_1.json": {
            "id": "ses_1",
            "projectID": "p",
            "directory": "/srv/shop",
            "title": "Tidy up",
            "time": {"created": 1_760_000_000_000, "updated": 1_760_000_009_000},
        },
        "message/ses_1/msg_1.json": {
            "id": "msg_1",
            "sessionID": "ses_1",
            "role": "user",
            "time": {"created": 1_760_000_000_001},
        },
        "part/msg_1/prt_1.json": {
            "id": "prt_1",
            "sessionID": "ses_1",
            "messageID": "msg_1",
            "type": "text",
            "text": "Please tidy up.",
        },
        "message/ses_1/msg_2.json": {
            "id": "msg_2",
            "sessionID": "ses_1",
            "role": "assistant",
            "time": {"created": 1_760_000_000_002},
        },
        "part/msg_2/prt_2.json": {
            "id": "prt_2",
            "sessionID": "ses_1",
            "messageID": "msg_2",
            "type": "tool",
            "tool": "bash",
            "callID": "call_1",
            "state": {
                "status": "completed",
                "input": {"command": "rm -rf /srv/shop/uploads"},
                "output": "",
            },
        },
    }
    for name, row in rows.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(row))
    return folder
