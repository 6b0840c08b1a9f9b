"""An agent over a session: it fits before every model call, runs the tools, and meets a refusal for length."""

from .loop import AgentLoop, ChatModel, Trigger
from .refusing import overflow
from .tools import FunctionTool, Tool, remember_tool

__all__ = ["AgentLoop", "ChatModel", "FunctionTool", "Tool", "Trigger", "overflow", "remember_tool"]
