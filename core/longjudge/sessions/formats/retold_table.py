"""Formats whose records need one another, in the order in which they are tried.

The more particular one stands first; one that wraps messages stands ahead of lists of messages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.sessions.formats.agent_chats import AgentChats
from longjudge.sessions.formats.aider import Aider
from longjudge.sessions.formats.amp import Amp
from longjudge.sessions.formats.atif import Atif
from longjudge.sessions.formats.autogen_records import AutoGenRecords
from longjudge.sessions.formats.autogen_team import AutoGenTeam
from longjudge.sessions.formats.chatgpt_export import ChatGPTExport
from longjudge.sessions.formats.claude_stream import ClaudeStream
from longjudge.sessions.formats.codex_exec import CodexExec
from longjudge.sessions.formats.continue_dev import ContinueDev
from longjudge.sessions.formats.copilot_cli import CopilotCli
from longjudge.sessions.formats.copilot_history import CopilotHistory
from longjudge.sessions.formats.cursor import Cursor
from longjudge.sessions.formats.droid import Droid
from longjudge.sessions.formats.failproof import Failproof
from longjudge.sessions.formats.gemini import GeminiCli
from longjudge.sessions.formats.gemini_stream import GeminiStream
from longjudge.sessions.formats.google_adk import GoogleAdk
from longjudge.sessions.formats.goose import Goose
from longjudge.sessions.formats.grok import Grok
from longjudge.sessions.formats.har import HttpArchive, RequestRecordings
from longjudge.sessions.formats.inspect_log import InspectLog
from longjudge.sessions.formats.kimi import Kimi
from longjudge.sessions.formats.langchain import LangChainMessages
from longjudge.sessions.formats.langfuse import Langfuse
from longjudge.sessions.formats.langsmith import LangSmith
from longjudge.sessions.formats.managed_agents import ManagedAgents
from longjudge.sessions.formats.mini_swe_agent import MiniSWEAgent
from longjudge.sessions.formats.opencode import OpenCode
from longjudge.sessions.formats.openhands import OpenHands
from longjudge.sessions.formats.otel import OtelSpans
from longjudge.sessions.formats.pi import Pi
from longjudge.sessions.formats.qwen import QwenCode
from longjudge.sessions.formats.sharegpt import ShareGpt
from longjudge.sessions.formats.swe_agent import SWEAgent
from longjudge.sessions.formats.tau_bench import TauBench
from longjudge.sessions.formats.vercel import VercelMessages
from longjudge.sessions.formats.vercel_stream import VercelStream
from longjudge.sessions.formats.vscode_chat import VsCodeChat
from longjudge.sessions.formats.windsurf import Windsurf

if TYPE_CHECKING:
    from longjudge.sessions.formats.retold import RetoldFormat

RETOLD: tuple[RetoldFormat, ...] = (
    CodexExec(),
    ClaudeStream(),
    Pi(),
    QwenCode(),
    ManagedAgents(),
    Droid(),
    Kimi(),
    OpenCode(),
    CopilotCli(),
    CopilotHistory(),
    GeminiStream(),
    GeminiCli(),
    Atif(),
    MiniSWEAgent(),
    SWEAgent(),
    OpenHands(),
    InspectLog(),
    TauBench(),
    OtelSpans(),
    Langfuse(),
    LangSmith(),
    Failproof(),
    Cursor(),
    Windsurf(),
    Amp(),
    ContinueDev(),
    Grok(),
    Goose(),
    GoogleAdk(),
    ShareGpt(),
    VsCodeChat(),
    HttpArchive(),
    RequestRecordings("anthropic-messages", anthropic=True),
    RequestRecordings("openai-chat", anthropic=False),
    ChatGPTExport(),
    AgentChats(),
    AutoGenRecords(),
    AutoGenTeam(),
    LangChainMessages(),
    VercelMessages(),
    VercelStream(),
    Aider(),
)
