"""An agent over a session.

It fits before every model call, runs the tools, and meets a refusal for length.
"""

from holdfast.agent.functions import PlainTool, tool
from holdfast.agent.loop import AgentLoop, ChatModel, Trigger, overflow
from holdfast.agent.tools import FunctionTool, Tool, remember_tool, search_tool

__all__ = [
    "AgentLoop",
    "ChatModel",
    "FunctionTool",
    "PlainTool",
    "Tool",
    "Trigger",
    "overflow",
    "remember_tool",
    "search_tool",
    "tool",
]
