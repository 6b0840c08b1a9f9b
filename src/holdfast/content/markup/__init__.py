"""HTML and XML: their text and structure, without what only a browser needs."""

from .kind import Markup

__all__ = ["Markup"]
