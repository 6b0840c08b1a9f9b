"""Shrink what tools returned: which texts, how far, and how the original is named."""

from .candidates import INSTRUCTION_FILES, INSTRUCTION_TOOLS
from .reference import key_in, referenced
from .strategy import RULES, Shrink

__all__ = ["INSTRUCTION_FILES", "INSTRUCTION_TOOLS", "RULES", "Shrink", "key_in", "referenced"]
