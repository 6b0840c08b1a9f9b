"""The laws of the design, each as a check on one example."""

import copy
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import holdfast
from holdfast.compressors.rules import RULES
from holdfast.compressors.summaries import PLAIN
from holdfast.formats import named
from holdfast.kernel.compressor import Compressor
from holdfast.kernel.edits import Offload, Replace
from holdfast.kernel.messages import ToolCall
from holdfast.kernel.transcript import violations
from holdfast.providers.scripted import Scripted
from holdfast.stores.in_process import InProcessStore
from tests.properties.conversations import FORMS
from tests.properties.strategies import notes, strategy


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
    llm: Scripted | None


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
    llm = Scripted(notes) if rng.random() < 0.8 else None
    return Example(number, form, payload, max(1, int(whole * share)), steps, step, store, llm)


def check(example: Example) -> Counter[str]:
    """Hold every law against the example; gives how often each strategy ran and changed
    something.
    """
    before = copy.deepcopy(example.payload)
    result = _run(example, example.payload)
    problems = list(broken(example, before, result))
    assert not problems, f"example {example.number}: {'; '.join(problems)}"
    seen: Counter[str] = Counter(
        messages=len(_list(before)), over=result.metrics.tokens_before > example.budget
    )
    ran: dict[str, bool] = {}
    for step in result.steps:
        if step.reason not in ("target_met", "within_budget"):  # else it did not run
            name = "rules" if step.name in RULES else step.name  # it reports a step for each rule
            ran[name] = ran.get(name, False) or step.applied
    for name, changed in ran.items():
        seen[f"ran {name}"] += 1
        seen[f"changed {name}"] += changed
    return seen


def _run(example: Example, payload: Any) -> holdfast.CompressionResult:
    return holdfast.compress(
        payload,
        example.budget,
        format=example.form,
        strategy=list(example.steps),
        step=example.step,
        store=example.store,
        secret="a secret" if example.store else None,
        llm=example.llm,
        embedder="lexical",
    )


def _list(payload: Any) -> list[Any]:
    if not isinstance(payload, dict):
        return payload
    return next(payload[field] for field in ("messages", "input", "contents") if field in payload)


def broken(example: Example, before: Any, result: holdfast.CompressionResult) -> Iterator[str]:
    """Every law that does not hold, in words."""
    given, kept = _list(example.payload), _list(result.messages)
    if example.payload != before:
        yield "the caller's messages were changed"
    counted = holdfast.count(result.messages, format=example.form).total
    if counted != result.tokens:
        yield f"the result says {result.tokens} tokens and has {counted}"
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
    anew = replace(
        example, store=example.store and InProcessStore()
    )  # what a store holds is input too
    if _list(_run(anew, example.payload).messages) != kept:
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
    return bool(old.get("role") == new.get("role") and old.keys() == new.keys())


def _broken_words(
    given: list[Any], kept: list[Any], result: holdfast.CompressionResult
) -> Iterator[str]:
    places = {id(message): i for i, message in enumerate(given)}
    order = [places[id(message)] for message in kept if id(message) in places]
    if order != sorted(order):
        yield "survivors changed their order"
    asked = any(isinstance(edit, Replace) and edit.asked for edit in result.edits)
    for message in kept:
        if id(message) not in places and _is_firm(message) and not asked:
            yield "a system message was reworded"
    if not _same([m for m in kept if _is_firm(m)], [m for m in given if _is_firm(m)]):
        yield "a system message is gone"


def _is_firm(message: Any) -> bool:
    """Whether it is the system's own: a summary in its name may give way to another."""
    if message.get("role") not in ("system", "developer"):
        return False
    content = message.get("content")
    return not isinstance(content, str) or not content.startswith(PLAIN)


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
            if (
                example.store is None
                or holdfast.recall(edit.key, store=example.store, secret="a secret") != text
            ):
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
    """Strategies that changed something in less than 5 % of their runs, if there were enough to
    tell.
    """
    names = [
        key.removeprefix("ran ")
        for key, runs in seen.items()
        if key.startswith("ran ") and runs * least >= 1
    ]
    return [n for n in names if n != "faulty" and seen[f"changed {n}"] < least * seen[f"ran {n}"]]
