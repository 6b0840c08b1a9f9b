"""``holdfast session``: a conversation that is kept whole in a store, held by a shell script or looked into."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from difflib import get_close_matches
from pathlib import Path
from typing import TypeVar, cast

import click

from holdfast.kernel.budget import Budget
from holdfast.kernel.errors import ConfigError
from holdfast.providers import check_model
from holdfast.reports.visible import amount, one_line
from holdfast.session import Session
from holdfast.tokens import counter_for

from .keeping import check_place
from .reading import STDIN, object_in, read_json, within
from .summary import printed
from .terminal import mention, pour, say
from .values import known, tokens
from .writing import STDOUT, check_targets, json_bytes, text_bytes, write_all

F = TypeVar("F", bound=Callable[..., int])
_FILE = "sqlite:///"
_PREVIEW = 300  # cells of a message that was found


class _Commands(click.Group):
    """The commands of a session."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        """Raises ConfigError, naming the known ones, for an unknown command."""
        command = super().get_command(ctx, cmd_name)
        if command is None:
            near = get_close_matches(cmd_name, self.commands, n=1)
            hint = f"did you mean {near[0]!r}? " if near else ""
            advice = f"{hint}known are {', '.join(self.list_commands(ctx))}"
            raise ConfigError(f"there is no command named {cmd_name!r}", place="session", advice=advice)
        return command


@click.group(
    "session",
    cls=_Commands,
    short_help="Keep a conversation in a store, and fit it from there.",
    invoke_without_command=True,
)
@click.pass_context
def command(ctx: click.Context) -> None:
    r"""Keep a conversation whole in a store, and send of it what fits and matters.

    \b
    holdfast session append turn.json --store agent.db --thread t1
    holdfast session fit --store agent.db --thread t1 --budget 8000 -o view.json
    holdfast session search "which retries did we agree on?" --store agent.db --thread t1
    holdfast session stats --store agent.db --thread t1 --report session.html
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def _thread_options(command: F) -> F:
    """Give a command the options ``store`` and ``thread``."""
    thread = click.option("--thread", required=True, help="The name of the conversation; any text.")
    store = click.option(
        "--store", required=True, metavar="FILE|URL", help="A SQLite file, or the URL of a store."
    )
    return store(thread(command))


def _opened(
    store: str, thread: str, *, reading: bool = True, model: str | None = None, llm: str | None = None
) -> Session:
    """The session; one that is only read has to be there already."""
    url = store if "://" in store else f"{_FILE}{store}"
    if reading and url.startswith(_FILE) and not Path(url.removeprefix(_FILE)).exists():
        raise ConfigError("there is no such file", place=f"--store {store}", advice="append something first")
    check_place(url)
    session = Session(thread, store=url, model=model, llm=llm)
    if reading and not session.appended:
        session.close()
        raise ConfigError(
            f"there is no thread {thread!r} in {store}", place="--thread", advice="append something first"
        )
    return session


@command.command("append", short_help="Keep messages at the end of the conversation.")
@click.argument("file", default=STDIN)
@_thread_options
@click.option(
    "--id", "ids", multiple=True, help="The name of a message, one for each: a known one is not kept again."
)
@click.option(
    "--llm",
    callback=known(check_model),
    metavar="V:NAME",
    help="The model that writes the short forms of what was said long ago.  [default: none, by rule]",
)
def append(file: str, store: str, thread: str, ids: Sequence[str], llm: str | None) -> int:
    """Keep the messages in FILE (- is standard input): one, a list, or one a line.

    They are on the disk when it ends, whatever becomes of the model. Prints their positions as JSON.
    """
    document = read_json(file)
    payload: object = object_in(document).get("messages", document.payload)
    given = cast("list[object]", payload) if isinstance(payload, list) else [payload]
    with within(file), _opened(store, thread, reading=False, llm=llm) as session:
        say(f"{json.dumps(session.append(*given, ids=ids))}\n")
        for fault in session.faults:
            mention(f"The messages are kept; their tiers are not up to date: {fault}\n")
    return 0


@command.command("fit", short_help="The messages for the next model call.")
@_thread_options
@click.option("--budget", metavar="TOKENS", callback=tokens, required=True, help="What the messages may take.")
@click.option("--query", help="A question about the past; else the newest input of the user is the question.")
@click.option("--model", callback=known(counter_for), help="Count as this model does.")
@click.option("--soft", is_flag=True, help="Write the messages even if the budget cannot be met.")
@click.option("-o", "--output", metavar="FILE|-", default=STDOUT, help="Where the messages go.")
@click.option("-q", "--quiet", is_flag=True, help="No summary on standard error.")
def fit(
    store: str,
    thread: str,
    budget: int,
    query: str | None,
    model: str | None,
    output: str,
    *,
    soft: bool,
    quiet: bool,
) -> int:
    """Write the messages for the next model call: the system's, what the past has to say, the recent turns."""
    check_targets({"-o": output}, store)
    with _opened(store, thread, model=model) as session:
        view = session.fit(query, budget=Budget(limit=budget, hard=not soft))
    content = json_bytes(view.messages)
    if output == STDOUT:
        say(content)
    else:
        write_all({output: content})
    if not quiet:
        kept = f"{amount(len(view.messages), 'message')}, {view.tokens:,} of {view.limit:,} tokens"
        past = f"{amount(len(view.recalled), 'message')} of the past came back"
        mention(f"{kept}; {'everything fits' if view.reason == 'everything_fits' else past}\n")
    return 0


@command.command("search", short_help="The messages that answer a question best.")
@click.argument("query")
@_thread_options
@click.option("--limit", default=10, show_default=True, type=click.IntRange(1), help="How many.")
@click.option("--json", "as_json", is_flag=True, help="Print them as JSON, with what gave each its score.")
def search(query: str, store: str, thread: str, limit: int, *, as_json: bool) -> int:
    """Print the messages of the conversation that answer QUERY best, best first."""
    with _opened(store, thread) as session:
        found = session.search(query, limit)
    if as_json:
        say(printed([asdict(each) for each in found]))
        return 0
    if not found:
        mention("Nothing answers it.\n")
    pour("".join(f"{each.position}\t{each.score:.2f}\t{one_line(each.text, _PREVIEW)}\n" for each in found))
    return 0


@command.command("recall", short_help="Give back an original, whole or in part.")
@click.argument("key")
@_thread_options
@click.option("--lines", metavar="A:B", help="Only these lines, counted from 1.")
@click.option("--pattern", metavar="RE", help="Only lines that match this regular expression (RE2).")
@click.option("--field", metavar="PATH", help="Only this field of JSON, such as orders[3].status.")
def recall(key: str, store: str, thread: str, lines: str | None, pattern: str | None, field: str | None) -> int:
    """Give back an original.

    KEY is what stands after "original:" in a shortened text, or the position or the id of a message.
    """
    with _opened(store, thread) as session:
        which = (
            int(key) if key.isdecimal() and len(key) < 12 else key
        )  # a key of an original has 12 digits or more
        pour(session.recall(which, lines=lines, pattern=pattern, field=field))
    return 0


@command.command("stats", short_help="How much there is, and what happened.")
@_thread_options
@click.option("--report", "told", metavar="FILE", help="The story of the conversation as a page: .html or .txt.")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
def stats(store: str, thread: str, told: str | None, *, as_json: bool) -> int:
    """Print how much there is and what happened: tiers, compactions, recalls, each with its reason."""
    check_targets({"--report": told}, store)
    with _opened(store, thread) as session:
        if told is not None:
            page = session.report("html" if told.endswith((".html", ".htm")) else "text")
            write_all({told: text_bytes(page)})
            mention(f"The report is in {told}.\n")
        say(printed(session.stats().to_dict()) if as_json else session.report())
    return 0


@command.command("restore", short_help="Everything that was ever appended.")
@_thread_options
@click.option("-o", "--output", metavar="FILE|-", default=STDOUT, help="Where the messages go.")
def restore(store: str, thread: str, output: str) -> int:
    """Write every message that was ever appended, as it was appended."""
    check_targets({"-o": output}, store)
    with _opened(store, thread) as session:
        content = json_bytes(session.restore())
    if output == STDOUT:
        say(content)
    else:
        write_all({output: content})
    return 0
