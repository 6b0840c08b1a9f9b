"""Subjective edits by named rules: the strategy, the rules that come with it, and rules of the caller's own."""

from .messages import Rule
from .strategy import RULES, Rules
from .texts import TextRule

__all__ = ["RULES", "Rule", "Rules", "TextRule"]
