"""Tables of text: CSV and TSV, Markdown and other ruled tables, aligned columns."""

from .kind import Table

__all__ = ["Table"]
