"""One text on its own, made to fit."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import cast

from holdfast.compressors.references import key_in, referenced
from holdfast.content import kind as kind_named
from holdfast.content import recognise, without_loss
from holdfast.kernel.errors import ConfigError, HoldfastError
from holdfast.kernel.ports import KeyValueStore, Room
from holdfast.meter import Counter, meter_for
from holdfast.stores.answers import opened
from holdfast.stores.artifacts import Artifact, AsyncArtifactStore
from holdfast.stores.secret import secret_of
from holdfast.text.concealed import redacted_text


@dataclass(frozen=True, slots=True)
class ShrunkText:
    """A text made smaller: its kind, its tokens before and after, and what is left out.

    ``lossless``: nothing is. ``key`` is what ``recall`` takes, where the original was saved;
    ``redacted`` counts the secrets that were masked first, by kind.
    """

    text: str
    kind: str
    tokens_before: int
    tokens_after: int
    omitted: str = ""
    lossless: bool = False
    key: str = ""
    redacted: tuple[tuple[str, int], ...] = ()


def shrink(
    text: str,
    tokens: int,
    query: str = "",
    *,
    kind: str | None = None,
    model: str | None = None,
    counter: Counter = None,
    store: str | KeyValueStore | None = None,
    redact: bool = False,
) -> ShrunkText:
    """A text as it fits so many tokens.

    Whole, else without loss, else what says most, ``query`` in view.

    ``kind`` says what it is (``log``, ``json``, ...) where that is not seen. With a ``store`` the
    original is saved if anything of it is left out, and the last line of the text names its key, if
    there is room for it. ``redact`` masks secrets first. Raises ConfigError for an argument that is
    not understood, StoreError for a store that does not answer.
    """
    given = cast("object", tokens)  # callers pass anything
    if isinstance(given, bool) or not isinstance(given, int) or given < 1:
        raise ConfigError(f"{tokens!r} is not a positive number of tokens", place="tokens")
    if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance] - as above
        raise ConfigError(f"{text!r:.40} is not text", place="text")
    count = meter_for(model, counter).text
    before = count(text)
    found: tuple[tuple[str, int], ...] = ()
    if redact:
        text, counts = redacted_text(text)
        found = tuple(sorted(counts.items()))
    of = recognise(text) if kind is None else kind_named(kind)
    room = Room(tokens, count, query)
    shrunk = without_loss(text, room, of)
    key = ""
    if shrunk is None and store is not None:
        shrunk = referenced(of, text, room, _saved(text, of.name, store))
        key = key_in(shrunk.text) or "" if shrunk else ""
    if shrunk is None:
        shrunk = of.shrink(text, room)
    after = count(shrunk.text)
    return ShrunkText(
        shrunk.text, shrunk.kind, before, after, shrunk.omitted, shrunk.lossless, key, found
    )


def _saved(text: str, kind: str, store: str | KeyValueStore) -> str:
    """The key under which the text is kept from now on."""
    answer = opened(store).ask(partial(_put, text, kind))
    if isinstance(answer, HoldfastError):
        raise answer
    return cast("Artifact", answer).reference


async def _put(text: str, kind: str, store: KeyValueStore) -> Artifact:
    return await AsyncArtifactStore(store, await secret_of(store)).put(text, kind)
