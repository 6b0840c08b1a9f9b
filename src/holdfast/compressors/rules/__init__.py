"""Subjective edits by named rules: the strategy, the rules that come with it, and rules of the caller's own."""

from holdfast.compressors.rules.messages import Rule
from holdfast.compressors.rules.strategy import RULES, Rules
from holdfast.compressors.rules.texts import TextRule

__all__ = ["RULES", "Rule", "Rules", "TextRule"]
