"""``holdfast eval``: what was kept of conversations that were made smaller."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import cast

import click

from holdfast.cli import DONE, UNMET
from holdfast.evaluation import Evaluation, Probe, evaluate, evaluation_page
from holdfast.kernel.errors import ConfigError, InputError
from holdfast.kernel.ports import KeyValueStore
from holdfast.kernel.typed import is_list, typed
from holdfast.stores.in_process import InProcessStore
from holdfast.threads import open  # noqa: A004 - as one opens a file

from .files import (
    Command,
    note,
    read_conversation,
    read_json,
    within,
    write,
    write_json,
    write_report,
)
from .options import JSON, STORE_KEY, kept_in, option, share
from .results import result_in
from .session import FIRST

TextPieces = Callable[..., Evaluation]
"""Evaluates a result, or a conversation before and after."""


@click.command("eval", cls=Command)
@click.argument("before", metavar="[RESULT|FOLDER|BEFORE]", required=False)
@click.argument("after", metavar="[AFTER]", required=False)
@option("--store", "FILE|URL", "Measure each thread of this store and its view.")
@STORE_KEY
@option("--budget", "N", "The budget of these views, in tokens.")
@option("--judge", "VENDOR:NAME", "A model that answers the --probes from both.")
@option("--report --page report_file", "FILE", "Write the figures: .html or .txt.")
@option("--probes", "FILE", 'JSON list of {"question": "...", "expected": ["word", ...]}.')
@option("--fail-under least", "X", "Exit with 1 if a score is below this.", callback=share)
@JSON
def command(
    before: str | None,
    after: str | None,
    store: str | None,
    store_key: str | None,
    budget: str | None,
    judge: str | None,
    report_file: str | None,
    probes: str | None,
    least: float | None,
    *,
    as_json: bool,
) -> int:
    """Measure what was kept of a conversation that was made smaller.

    Compares the two conversations in a RESULT of `holdfast compress --result` or in each result of
    a FOLDER, BEFORE with AFTER, or the threads of a --store with their views in a --budget. Counts
    names, numbers, decisions, constraints, open points and acts, each kept only if its context is
    kept too; finds contradictions; compares meaning. No model is needed. The exit code is 1 if the
    score is below --fail-under.

    \b
    holdfast eval all.json --fail-under 0.7
    holdfast eval chat.json short.json --json
    holdfast eval --store agent.db --budget 8k --report eval.html
    """
    if (store is None) == (before is None) or (store is None) != (budget is None):
        problem = "these are two things" if before else "there is nothing to compare"
        raise ConfigError(problem, advice="give files, or --store and --budget")
    place = kept_in(store, store_key, missing=FIRST)
    told = partial(evaluate, probes=_probes(probes), judge=judge)
    if store is None:
        found = {name: _evaluated(name, after, told) for name in _files(before or "")}
    else:
        found = {}
        with open(cast("str | KeyValueStore", place)) as threads:
            for name in threads.threads():
                with threads.thread(name) as kept, kept.fork(name, InProcessStore()) as session:
                    found[name] = told(session.messages(), session.fit(budget=budget).messages)
    text = "".join(_told(found))
    write_report(report_file, lambda form: evaluation_page(found) if form == "html" else text)
    if as_json:
        write_json({name: each.to_dict() for name, each in found.items()})
    else:
        write(text)
    low = {name: each.score for name, each in found.items() if least and each.score < least}
    for name, score in low.items():
        note(f"{name}: a score of {score:.3f} is below {least}\n")
    return UNMET if low else DONE


def _told(found: Mapping[str, Evaluation]) -> Iterator[str]:
    """All of one evaluation, or a line for each of several."""
    for name, each in found.items():
        shares = "".join(f"  {kind} {kept:.3f}" for kind, kept in each.kinds.items())
        yield each.text() if len(found) == 1 else f"{each.score:.3f}  {name}{shares}\n"


def _files(place: str) -> Sequence[str]:
    if not Path(place).is_dir():
        return [place]
    found = sorted(map(str, Path(place).glob("*.json")))
    if not found:
        raise InputError(
            "there is no result in it",
            place=place,
            advice="give one with files of `holdfast compress --result`",
        )
    return found


def _evaluated(before: str, after: str | None, told: TextPieces) -> Evaluation:
    if after is not None:
        both = [read_conversation(file).payload for file in (before, after)]
        with within(f"{before} and {after}"):
            return told(*both)
    document = read_json(before)
    with within(before):
        advice = "give AFTER too, or a file of `holdfast compress --result`"
        return told(result_in(document, advice))


def _probes(file: str | None) -> list[Probe]:
    if file is None:
        return []
    listed = read_json(file).payload
    found: list[Probe] = []
    for n, row in enumerate(listed if is_list(listed) else [listed]):
        with suppress(ValueError):
            found.append(typed(row, Probe))
        if len(found) == n or not all(found[n].expected):
            raise InputError(
                "this is not a probe",
                place=f"{file}: [{n}]",
                advice='write {"question": "...", "expected": ["word", ...]}',
            )
    return found
