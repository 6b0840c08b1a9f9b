"""JSON and JSON lines: records as tables, without loss if that is enough."""

from __future__ import annotations

from holdfast.content.lossy import LossyKind
from holdfast.content.structured.keys_once import written
from holdfast.content.structured.records import Pieces
from holdfast.content.structured.values import CHECKER, Value, dump, minified, parse, values_in
from holdfast.kernel.registry import moved_names
from holdfast.selection.pieces import Reading

_WORTH = 0.95  # of the minified text's length: longer forms are not worth their header
_LEAST = 0.8  # least share of the text that is JSON; with less, recorded runs kept less


class Json(LossyKind):
    """One or more JSON objects or arrays; text may surround them and the end may be missing."""

    name = "json"
    takes_apart = True
    least = _LEAST

    def fit(self, text: str) -> float:
        """The share of the text that is JSON and more than a scalar.

        It is 0 if numbers stand between the values, as before the lines of a file: whoever edits
        it needs the lines as they are.
        """
        found, size = list(values_in(text, CHECKER)), max(1, len(text.strip()))
        if sum(_is_number(part) for part, values in found if not values) > 1:
            return 0.0
        return sum(len(part) for part, values in found if values) / size

    def compact(self, text: str) -> str | None:
        """Records with their keys once, the rest minified; None if that saves nothing."""
        try:
            documents = parse(text)
        except ValueError:
            return None
        plain = "\n".join(map(dump, documents)) if len(documents) > 1 else minified(text)
        form = written(documents) or plain
        best = form if len(form) < _WORTH * len(plain) else plain
        return best if len(best) < len(text) else None

    def read(self, text: str) -> Reading:
        """The pieces of the records, and the text around them."""
        pieces, held = Pieces(), list[Value]()
        for part, values in values_in(text):
            held += values
            if held and not values and not part.isspace():
                pieces.add(held)
                held = []
            if not values:
                pieces.add_text(part)
        if held:
            pieces.add(held)
        return pieces.reading()


def _is_number(part: str) -> bool:
    return any(map(str.isdigit, part)) and not any(map(str.isalpha, part))


__getattr__ = moved_names(__name__, {"cleaned": "holdfast.designs.llm4s"})
