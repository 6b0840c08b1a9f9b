"""``holdfast session append``: keep messages."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import cast

import click

from holdfast.cli.budgeting import REDACT
from holdfast.cli.counting import form_options, mention_unknown
from holdfast.cli.models import LLM
from holdfast.cli.reading import STDIN, Document, object_in, read_json, within
from holdfast.cli.session.opening import place_of, thread_options
from holdfast.cli.terminal import mention, say
from holdfast.cli.values import moment
from holdfast.session import Session


@click.command("append", short_help="Keep messages at the end of the conversation.")
@click.argument("file", default=STDIN)
@thread_options
@click.option(
    "--id", "ids", multiple=True, help="The name of a message, one for each: a known one is not kept again."
)
@click.option(
    "--at",
    metavar="TIME",
    callback=moment,
    help="When they were said, such as 2026-05-08T13:56+02:00; UTC where it says no zone.  [default: now]",
)
@LLM
@REDACT
@form_options
def append(
    file: str,
    store: str,
    thread: str,
    ids: Sequence[str],
    at: datetime | None,
    llm: str | None,
    redact: bool | None,
    model: str | None,
    counter: str | None,
    form: str | None,
) -> int:
    r"""Keep the messages in FILE (- is standard input): one, a list, or one a line.

    They are on the disk when it ends, whatever becomes of the model. Prints their positions as JSON.

    \b
    holdfast session append chat.json --store agent.db --thread t1
    echo '{"role": "user", "content": "Go on."}' | holdfast session append --store agent.db --thread t1
    """
    document = read_json(file)
    payload: object = object_in(document).get("messages", document.payload)
    given = cast("list[object]", payload) if isinstance(payload, list) else [payload]
    place = place_of(store, reading=False)
    opened = Session(thread, store=place, model=model, counter=counter, format=form, redact=redact, llm=llm)
    with within(file), opened as session:
        before = session.faults
        say(f"{json.dumps(session.append(*given, ids=ids, at=at))}\n")
        for fault in session.faults:
            if fault not in before:
                mention(f"The messages are kept, but: {fault}\n")
    _mention_beside(document)
    mention_unknown(model, counter)
    return 0


def _mention_beside(document: Document) -> None:
    """Say what of a request's body is no message, and so is not kept."""
    beside = [field for field in ("system", "tools") if object_in(document).get(field)]
    if beside:
        mention(
            f"Of the request its messages are kept, not its {' and '.join(beside)}: send that along with each "
            "view, and leave room for it (fit --tools FILE, --reserve N).\n"
        )
