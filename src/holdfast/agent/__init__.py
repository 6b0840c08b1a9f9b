"""An agent over a session: it fits before every model call, runs the tools, and meets a refusal for length."""

from .loop import AgentLoop, ChatModel, Trigger
from .memory_tools import remember_tool, search_tool
from .refusing import overflow
from .tools import FunctionTool, Tool

__all__ = ["AgentLoop", "ChatModel", "FunctionTool", "Tool", "Trigger", "overflow", "remember_tool", "search_tool"]
