"""The laws of the design, each as a check on one example."""

import copy
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

import holdfast
from holdfast.compressors.pipeline import Pipeline
from holdfast.compressors.prune import Prune
from holdfast.compressors.shrink import RULES, Shrink
from holdfast.compressors.size_classes import SizeClasses
from holdfast.compressors.trim import Trim
from holdfast.compressors.window import SlidingWindow
from holdfast.formats import named
from holdfast.kernel.compressor import Compressor, Plan
from holdfast.kernel.edits import Drop, Offload, Replace
from holdfast.kernel.integrity import violations
from holdfast.kernel.messages import ToolCall
from holdfast.stores.in_process import InProcessStore
from tests.properties.conversations import FORMS


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


@dataclass(frozen=True)
class Example:
    """One drawn example: what goes in, what it may take, and what is to be done."""

    number: int
    form: str
    payload: Any
    budget: int
    steps: tuple[Compressor, ...]
    step: float
    store: InProcessStore | None


def draw(number: int, seed: int = 0) -> Example:
    """The example of this number."""
    rng = Random(f"holdfast:{seed}:{number}")
    form = rng.choice(tuple(FORMS))
    payload = FORMS[form](rng)
    whole = holdfast.count(payload, format=form).total
    share = rng.uniform(0.05, 1.0) if rng.random() < 0.85 else rng.uniform(1.0, 1.5)
    steps = tuple(strategy(rng, whole) for _ in range(rng.randint(1, 4)))
    step = 0.1 if rng.random() < 0.15 else 0.0
    store = InProcessStore() if rng.random() < 0.5 else None
    return Example(number, form, payload, max(1, int(whole * share)), steps, step, store)


def strategy(rng: Random, whole: int) -> Compressor:
    """One strategy with knobs of some kind."""
    kind = rng.choice(("prune", "shrink", "shrink", "llm4s", "sliding_window", "trim", "trim", "hybrid", "faulty"))
    if kind == "prune":
        return Prune(
            protect_tokens=rng.choice((0, 0.1, 0.4, whole // 8)),
            minimum_tokens=rng.choice((0, 0.02, 10)),
            min_user_turns=rng.choice((0, 0, 1)),
            contextual=rng.random() < 0.5,
            by=rng.choice(("part", "message")),
        )
    if kind == "shrink":
        return Shrink(
            rules=tuple(rng.sample(RULES, rng.choice((1, 3, len(RULES))))),
            min_tokens=rng.choice((0, 20, 60)),
            shares=rng.choice(((0.5, 0.2, 0.0), (0.0,), (0.8, 0.3))),
            least_tokens=rng.choice((1, 10, 40)),
            tools=rng.choice(((), (), (), ("read_*",))),
            keep_tools=rng.choice(((), ("search",))),
            roles=rng.choice((("tool",), ("tool", "assistant"))),
        )
    if kind == "llm4s":
        return SizeClasses(
            inline_bytes=(inline := rng.randint(0, 500)), external_bytes=inline + rng.randint(0, 2_000)
        )
    if kind == "sliding_window":
        knob = rng.choice(("window_size", "keep_turns", "keep_tokens", None))
        sizes = {
            "window_size": rng.randint(0, 10),
            "keep_turns": rng.randint(0, 3),
            "keep_tokens": rng.uniform(0, 1),
        }
        return SlidingWindow(**({knob: sizes[knob]} if knob else {}))
    if kind == "trim":
        return Trim(keep_recent=rng.choice((0, 0, 2, 5)), clamp=rng.random() < 0.8, clamp_users=rng.random() < 0.1)
    if kind == "faulty":
        return Faulty(rng.choice(("raises", "drops_everything", "grows")))
    return Pipeline((strategy(rng, whole), Trim()))


def check(example: Example) -> Counter[str]:
    """Hold every law against the example; gives how often each strategy ran and changed something."""
    before = copy.deepcopy(example.payload)
    result = _run(example, example.payload)
    problems = list(broken(example, before, result))
    assert not problems, f"example {example.number}: {'; '.join(problems)}"
    seen: Counter[str] = Counter(messages=len(_list(before)), over=result.metrics.tokens_before > example.budget)
    for step in result.steps:
        if step.reason != "target_met":
            seen[f"ran {step.name}"] += 1
            seen[f"changed {step.name}"] += step.applied
    return seen


def _run(example: Example, payload: Any) -> holdfast.CompressionResult:
    return holdfast.compress(
        payload,
        example.budget,
        format=example.form,
        strategy=list(example.steps),
        step=example.step,
        store=example.store,
    )


def _list(payload: Any) -> list[Any]:
    return payload["messages"] if isinstance(payload, dict) else payload


def broken(example: Example, before: Any, result: holdfast.CompressionResult) -> Iterator[str]:
    """Every law that does not hold, in words."""
    given, kept = _list(example.payload), _list(result.messages)
    if example.payload != before:
        yield "the caller's messages were changed"
    counted = holdfast.count(result.messages, format=example.form).total
    if counted != result.usage.tokens:
        yield f"the result says {result.usage.tokens} tokens and has {counted}"
    if result.budget_met != (counted <= example.budget):
        yield "budget_met is not true"
    if result.metrics.tokens_before <= example.budget and not _same(kept, given):
        yield "it fitted and was changed"
    if counted > result.metrics.tokens_before:
        yield "it is larger than the input"
    if holdfast.restore(result) != before:
        yield "restore is not exact"
    if holdfast.restore(holdfast.CompressionResult.from_json(result.to_json())) != before:
        yield "restore is not exact after JSON"
    yield from _broken_rules(example, given, kept)
    yield from _broken_words(given, kept, result)
    yield from _broken_references(example, result)
    if _list(_run(example, example.payload).messages) != kept:
        yield "the same input gave another output"
    again = _list(_run(example, result.messages).messages)
    if again != kept:
        yield "compressing the output again changed it"


def _broken_rules(example: Example, given: list[Any], kept: list[Any]) -> Iterator[str]:
    form = named(example.form)
    before, after = form.read(given), form.read(kept)
    old = Counter(v.rule for v in violations(before.rules, before.messages))
    new = Counter(v.rule for v in violations(after.rules, after.messages))
    worse = new - old
    if worse:
        yield f"newly broken: {dict(worse)}"
    if given and given[-1] is not kept[-1] and not _changed_form(given[-1], kept[-1]):
        yield "the newest message is gone"


def _changed_form(old: Any, new: Any) -> bool:
    return bool(old["role"] == new["role"] and old.keys() == new.keys())


def _broken_words(given: list[Any], kept: list[Any], result: holdfast.CompressionResult) -> Iterator[str]:
    places = {id(message): i for i, message in enumerate(given)}
    order = [places[id(message)] for message in kept if id(message) in places]
    if order != sorted(order):
        yield "survivors changed their order"
    asked = any(isinstance(edit, Replace) and edit.asked for edit in result.edits)
    for message in kept:
        if id(message) not in places and message["role"] in ("system", "developer") and not asked:
            yield "a system message was reworded"
    systems = [m for m in given if m["role"] in ("system", "developer")]
    if not _same([m for m in kept if m["role"] in ("system", "developer")], systems):
        yield "a system message is gone"


def _broken_references(example: Example, result: holdfast.CompressionResult) -> Iterator[str]:
    form = named(example.form)
    for step in result.steps:
        for edit in step.edits:
            if not isinstance(edit, Offload):
                continue
            original = form.parts(step.taken[edit.index])[edit.part]
            text = original.arguments if isinstance(original, ToolCall) else original.text
            if edit.key not in edit.text:
                yield f"the text does not name {edit.key}"
            if example.store is None or holdfast.recall(edit.key, store=example.store) != text:
                yield f"{edit.key} does not give the original back"


def _same(some: list[Any], others: list[Any]) -> bool:
    return len(some) == len(others) and all(a is b for a, b in zip(some, others, strict=True))


def account(seen: Counter[str]) -> list[str]:
    """How often each strategy really changed something, a line each."""
    names = sorted(key.removeprefix("ran ") for key in seen if key.startswith("ran "))
    return [
        f"{name}: changed something in {seen[f'changed {name}']:,} of {seen[f'ran {name}']:,} runs"
        f" ({100 * seen[f'changed {name}'] / seen[f'ran {name}']:.1f} %)"
        for name in names
    ]


def idle(seen: Counter[str], least: float = 0.05) -> list[str]:
    """Strategies that changed something in less than 5 % of their runs; a faulty one never may."""
    names = [key.removeprefix("ran ") for key in seen if key.startswith("ran ")]
    return [n for n in names if n != "faulty" and seen[f"changed {n}"] < least * seen[f"ran {n}"]]
