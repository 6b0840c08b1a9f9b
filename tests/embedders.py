from collections.abc import Callable, Sequence

Vector = Sequence[float]


class ScriptedEmbedder:
    """An embedder with prepared vectors; ``calls`` are the lists of texts so far."""

    def __init__(self, vector: Callable[[str], Vector], *, name: str = "scripted") -> None:
        self.name = name
        self.calls: list[tuple[str, ...]] = []
        self._vector = vector

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """The vector of each text."""
        self.calls.append(tuple(texts))
        return [self._vector(text) for text in texts]
