"""What the kinds share that have no lossless form."""

from __future__ import annotations


class Lossy:
    """A kind of whose texts no shorter form is certain to say the same."""

    def compact(self, text: str) -> str | None:  # noqa: ARG002 - the protocol passes the text
        """None, always."""
        return None

    def expand(self, compacted: str) -> str:
        """The text itself."""
        return compacted
