"""Fitting a single text to a number of tokens."""

from dataclasses import dataclass

from holdfast.compressors.references import key_in, referenced
from holdfast.content import kind as kind_named
from holdfast.content import recognise, without_loss
from holdfast.kernel.budget import Tokens
from holdfast.kernel.ports import KeyValueStore, Room
from holdfast.kernel.typed import check_type
from holdfast.redact import Counts, redacted_text
from holdfast.stores import open_store
from holdfast.stores.artifacts import ArtifactStore, secret_of
from holdfast.stores.protocols import as_store_errors
from holdfast.tokens import Counter, meter_for


@dataclass(frozen=True, slots=True)
class ShrunkText:
    """A shortened text, with its kind, its size before and after, and what was left out.

    ``lossless`` is true if nothing was left out. ``key`` is the key for ``recall`` if the original
    was stored. ``redacted`` counts masked secrets by kind.
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
    """Fit a text to a number of tokens.

    The text is returned whole if it fits, in a shorter lossless form if that fits, and else with
    the parts that matter most for ``query``. ``kind`` names the kind of text (``log``, ``json``,
    ...) if it is not recognised. With a ``store``, the original is saved when something is left
    out, and the last line names its key if there is room. ``redact`` masks secrets first.

    Raises ConfigError for a wrong argument and StoreError for a store that does not answer.
    """
    check_type(tokens, Tokens, "tokens")
    check_type(text, str, "text")
    check_type(query, str, "query")
    check_type(kind, str | None, "kind")
    count = meter_for(model, counter).text
    before = count(text)
    found: Counts = {}
    if redact:
        text, found = redacted_text(text)
    of = recognise(text) if kind is None else kind_named(kind)
    room = Room(tokens, count, query)
    shrunk = without_loss(text, room, of)
    key = ""
    if shrunk is None and store is not None:
        kept = open_store(store)
        with as_store_errors():
            key = ArtifactStore(kept, secret_of(kept)).put(text, of.name).reference
        shrunk = referenced(of, text, room, key)
        key = key_in(shrunk.text) or "" if shrunk else ""
    if shrunk is None:
        shrunk = of.shrink(text, room)
    after = count(shrunk.text)
    masked = tuple(sorted(found.items()))
    return ShrunkText(
        shrunk.text, shrunk.kind, before, after, shrunk.omitted, shrunk.lossless, key, masked
    )
