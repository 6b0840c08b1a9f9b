"""``holdfast session fit``: the messages for the next model call."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import click

from holdfast.cli.budgeting import LIMITS, PROFILE, REDACT, SOFT
from holdfast.cli.counting import counting_options, mention_unknown, read_tools
from holdfast.cli.options import having
from holdfast.cli.reading import within
from holdfast.cli.session.opening import begun, place_of, thread_options
from holdfast.cli.summary import printed, steps_of
from holdfast.cli.terminal import mention, say
from holdfast.cli.writing import STDOUT, check_targets, json_bytes, write_all
from holdfast.kernel.budget import Budget
from holdfast.kernel.errors import BudgetError, ConfigError
from holdfast.reports.visible import amount
from holdfast.result import TokenUsage
from holdfast.session import Session, View


@dataclass(frozen=True, slots=True)
class _Asked:
    """One conversation, one budget, and how it is to be met."""

    store: str
    thread: str
    budget: int | None
    window: int | None
    reserve: int
    headroom: float
    profile: str | None
    query: str | None
    redact: bool | None
    model: str | None
    counter: str | None
    form: str | None
    tools: str | None

    def fitted(self) -> tuple[View, dict[str, object]]:
        """The view, and the facts about it."""
        schemas = read_tools(self.tools)
        opened = Session(
            self.thread,
            store=place_of(self.store),
            budget=Budget(self.budget, self.window, reserve=self.reserve, headroom=self.headroom),
            model=self.model,
            counter=self.counter,
            format=self.form,
            profile=self.profile or "balanced",
            redact=self.redact,
        )
        with within(self.store, self.tools), begun(opened, self.store) as session:
            view = session.fit(self.query, tools=schemas)
            return view, dict(_facts(session, view))


@click.command("fit", short_help="The messages for the next model call.")
@thread_options
@having(*LIMITS, SOFT, PROFILE)
@click.option("--query", metavar="Q", help="A question about the past.  [default: the newest input of the user]")
@REDACT
@counting_options
@click.option("-o", "--output", metavar="FILE|-", help="Where the messages go.  [default: standard output]")
@click.option("--json", "as_json", is_flag=True, help="Print the facts as JSON on standard output.")
@click.option("-q", "--quiet", is_flag=True, help="No summary on standard error.")
def fit(output: str | None, *, soft: bool, as_json: bool, quiet: bool, **asked: Any) -> int:
    r"""Write the messages for the next model call: the system's, what the past has to say, the recent turns.

    The budget is hard: where it cannot be met nothing is written and the exit code is 1, unless --soft is given.

    \b
    holdfast session fit --store agent.db --thread t1 --budget 8000 -o view.json
    holdfast session fit --store agent.db --thread t1 --model gpt-4o --reserve 4000 --query "which port?"
    """
    if as_json and output == STDOUT:
        advice = "name a file for the messages"
        raise ConfigError("--json and the messages both want standard output", place="-o", advice=advice)
    request = _Asked(**asked)
    check_targets({"-o": output}, request.store)
    view, facts = request.fitted()
    if as_json:
        say(printed(facts))
    if view.smallest is not None and not soft:
        reason = "what must stay is larger"
        raise BudgetError(limit=view.limit, tokens=view.tokens, smallest=view.smallest, reason=reason)
    if output not in (None, STDOUT):
        write_all({output: json_bytes(view.messages)})
    elif not as_json:
        say(json_bytes(view.messages))
    if not quiet:
        mention(f"{_summary(view)}\n")
        mention_unknown(request.model, request.counter)
    return 0


def _facts(session: Session, view: View) -> Iterator[tuple[str, object]]:
    """What ``--json`` prints, under the names that ``compress`` gives to the same things; no message text."""
    usage, counter = TokenUsage(view.tokens, view.limit), session.meter.counter
    yield "reason", view.reason
    yield "budget_met", view.budget_met
    yield "smallest", view.smallest
    yield "format", session.wire().name
    yield "counter", counter.name
    yield "accuracy", asdict(counter.accuracy)
    yield "usage", asdict(usage) | {"within": usage.within, "utilization": usage.utilization}
    yield "messages", {"appended": session.appended, "in_view": len(view.messages), "since": view.since}
    yield "recalled", [{"position": each.position, "score": each.score, "why": each.why} for each in view.recalled]
    yield "steps", steps_of(view.result) if view.result else []


def _summary(view: View) -> str:
    size = f"{amount(len(view.messages), 'message')}, {view.tokens:,} of {view.limit:,} tokens"
    if not view.budget_met:
        return f"{size}: NOT met, what must stay is larger"
    past = f"{amount(len(view.recalled), 'message')} of the past came back"
    return f"{size}; {'everything fits' if view.reason == 'everything_fits' else past}"
