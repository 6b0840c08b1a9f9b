"""Shrink what tools returned: which texts, how far, and how the original is named."""

from holdfast.compressors.references import key_in, referenced
from holdfast.compressors.shrink.candidates import INSTRUCTION_FILES, INSTRUCTION_TOOLS
from holdfast.compressors.shrink.strategy import RULES, Shrink

__all__ = ["INSTRUCTION_FILES", "INSTRUCTION_TOOLS", "RULES", "Shrink", "key_in", "referenced"]
