"""Strategies with knobs of some kind, and two of somebody else; the model that they are given."""

from collections.abc import Callable
from contextlib import suppress
from random import Random
from typing import Any

from holdfast.compressors.dedupe import Semantic
from holdfast.compressors.digest import Digest
from holdfast.compressors.pipeline import Pipeline
from holdfast.compressors.prune import Prune
from holdfast.compressors.rank import Hierarchical
from holdfast.compressors.rules import RULES as EDITS
from holdfast.compressors.rules import Rules
from holdfast.compressors.select import Select
from holdfast.compressors.shrink import RULES, Shrink
from holdfast.compressors.squeeze import Squeeze
from holdfast.compressors.summaries import body_of, mark
from holdfast.compressors.summarize import Summarize
from holdfast.compressors.trim import Trim
from holdfast.compressors.window import SlidingWindow
from holdfast.designs.llm4s import SizeClasses, llm4s_history
from holdfast.kernel.apply import apply
from holdfast.kernel.compressor import Compressor, Plan
from holdfast.kernel.edits import Drop, Insert, Replace
from holdfast.kernel.errors import IntegrityError, ModelError


def notes(prompt: str) -> str | ModelError:
    """What the model says of a prompt: something short of it; of one in sixteen nothing."""
    chosen = sum(map(ord, prompt))
    if chosen % 16 == 0:
        return ModelError("out of luck")
    quoted = [line.removeprefix("| ") for line in prompt.splitlines() if line.startswith("| ")] or [
        "nothing"
    ]
    return f"They spoke of this: {quoted[chosen % len(quoted)][:100]}"


class Faulty:
    """Somebody's strategy with a fault: it raises, or it proposes what no rule allows."""

    name = "faulty"

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def plan(self, transcript, allowance):
        if self.kind == "raises":
            raise RuntimeError("out of luck")
        if self.kind == "drops_everything":
            return Plan((Drop(tuple(range(len(transcript)))),))
        return Plan((Replace(0, 0, "hello " * 50_000),))


class Notes:
    """Somebody's strategy that folds all that may go into one summary, an older one with it."""

    name = "notes"

    def plan(self, transcript, allowance):
        units = [unit for unit in transcript.units if transcript.protected.isdisjoint(unit)]
        going = [i for unit in units for i in unit]
        if all(body_of(transcript.messages[i]) is not None for i in going):
            return Plan.skip("nothing_new")
        for at in (going[-1] + 1, going[0]):
            for role in ("user", "assistant", "system"):
                text = mark(f"{len(going)} messages left", role)
                edits = (Drop(tuple(going)), Insert(at, role, text, covers=(going[0], going[-1])))
                with suppress(IntegrityError):
                    apply(transcript, edits)
                    return Plan(edits)
        return Plan.skip("no_place")


def _prune(rng: Random, whole: int) -> Compressor:
    return Prune(
        protect_tokens=rng.choice((0, 0.1, 0.4, whole // 8)),
        minimum_tokens=rng.choice((0, 0.02, 10)),
        min_user_turns=rng.choice((0, 0, 1)),
        contextual=rng.random() < 0.5,
        by=rng.choice(("part", "message")),
        summary_tokens=rng.choice((0, 0, 20, 60)),
    )


def _shrink(rng: Random, _: int) -> Compressor:
    return Shrink(
        rules=tuple(rng.sample(RULES, rng.choice((1, 3, len(RULES))))),
        tools=rng.choice(((), (), (), ("read_*",))),
        keep_tools=rng.choice(((), ("search",))),
    )


def _size_classes(rng: Random, _: int) -> Compressor:
    inline = rng.randint(0, 500)
    return SizeClasses(inline_bytes=inline, external_bytes=inline + rng.randint(0, 2_000))


def _window(rng: Random, _: int) -> Compressor:
    knob = rng.choice(("window_size", "keep_turns", "keep_tokens", None))
    sizes: dict[str | None, Any] = {
        "window_size": rng.randint(0, 10),
        "keep_turns": rng.randint(0, 3),
        "keep_tokens": rng.uniform(0, 1),
    }
    return SlidingWindow(**({knob: sizes[knob]} if knob else {}))


def _trim(rng: Random, _: int) -> Compressor:
    return Trim(
        keep_recent=rng.choice((0, 0, 2, 5)),
        clamp=rng.random() < 0.8,
    )


def _digest(rng: Random, _: int) -> Compressor:
    return Digest(
        keep_blocks=rng.choice((0, 2, 5)),
        max_tokens=rng.choice((1.0, 0.3, 60)),
        role=rng.choice(("user", "assistant", "system")),
    )


def _select(rng: Random, _: int) -> Compressor:
    return Select(recent=rng.choice((0.0, 0.15, 0.5)), task=rng.choice((0.1, 0.4)))


def _llm4s_history(rng: Random, _: int) -> Compressor:
    return llm4s_history(keep_blocks=rng.choice((0, 1, 5)), max_tokens=rng.choice((400, 60)))


def _rules(rng: Random, _: int) -> Compressor:
    return Rules(
        rules=tuple(rng.sample(EDITS, rng.choice((3, len(EDITS))))),
        roles=rng.choice((("assistant", "tool"), ("tool",))),
    )


def _semantic(rng: Random, _: int) -> Compressor:
    return Semantic(
        similarity_threshold=rng.choice((0.0, 0.4, 0.7)), keep_recent=rng.choice((0, 1, 3))
    )


def _hierarchical(rng: Random, _: int) -> Compressor:
    return Hierarchical(
        keep_recent=rng.choice((0, 2, 5)),
        weights=rng.choice(("mofa", "selective")),
        condense_above=rng.choice((0.0, 0.5)),
        summary_tokens=rng.choice((40, 256)),
    )


def _summarize(rng: Random, _: int) -> Compressor:
    keep_recent, keep_at_least = rng.choice(
        ((None, None), (None, None), (0, None), (3, None), (None, 0.1), (None, 0))
    )
    return Summarize(
        keep_recent=keep_recent,
        keep_tokens=rng.choice((0.0, 0.2)),
        keep_at_least=keep_at_least,
        summary_max_tokens=rng.choice((0.15, 0.5, 200)),
        combine=rng.choice(("concat", "model", "hybrid")),
        min_new=rng.choice((0, 1.0)),
        quote_users=rng.random() < 0.5,
        role=rng.choice(("user", "assistant", "system")),
    )


def _squeeze(rng: Random, _: int) -> Compressor:
    squeeze = Squeeze(cap_tokens=rng.choice((0, 10, 40)))
    return Pipeline((_digest(rng, 0), squeeze)) if rng.random() < 0.7 else squeeze


def _hybrid(rng: Random, whole: int) -> Compressor:
    return Pipeline((strategy(rng, whole), Trim()))


_KINDS: tuple[Callable[[Random, int], Compressor], ...] = (
    *(_prune, _shrink, _shrink, _size_classes, _window, _trim, _trim, _hybrid),
    *(_digest, _llm4s_history, _rules, _semantic, _hierarchical, _summarize, _squeeze),
    lambda *_: Notes(),
    lambda rng, _: Faulty(rng.choice(("raises", "drops_everything", "grows"))),
)


def strategy(rng: Random, whole: int) -> Compressor:
    """One strategy with knobs of some kind, for a conversation of so many tokens."""
    return rng.choice(_KINDS)(rng, whole)
