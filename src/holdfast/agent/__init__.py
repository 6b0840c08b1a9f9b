"""An agent loop over a session: fits the view, calls the model, runs its tools."""

from holdfast.agent.loop import AgentLoop, ChatModel, Trigger, overflow
from holdfast.agent.tools import FunctionTool, PlainTool, Tool, remember_tool, search_tool, tool

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
