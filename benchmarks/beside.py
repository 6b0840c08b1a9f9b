"""What is still there after fitting, beside other libraries: ``python -m benchmarks.beside``.

Two recorded conversations are fitted to 8,000 tokens. Their last message asks for what was said and
printed early; FACTS lists that, and what of it still stands in the messages is counted. Each peer
is used as its documentation shows.
"""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import holdfast

Messages = list[dict[str, Any]]
BUDGET = 8_000
EXAMPLES = Path(__file__).parents[1] / "examples"
FACTS = {
    "openai_failing_tests": (
        "PAR-1187",
        "migrations/",
        "RC-2024-07",
        "d0812f1",
        "ROUND_HALF_UP",
        "4471-K",
        "4000",
        "12.5",
        "addendum 7",
    ),
    "plain_archive_cutover": (
        "21:00",
        "02:30",
        "23:00",
        "T-118",
        "LH-2291",
        "T-140",
        "LH-2305",
        "8 MiB",
        "512 MiB",
        "blake2b",
        "0.5 %",
        "01:45",
        "v3.8.2",
        "14 days",
    ),
}


def ours(messages: Messages) -> Messages:
    """The default profile."""
    return holdfast.compress(messages, BUDGET).messages


def langchain(messages: Messages) -> Messages:
    """``trim_messages`` of langchain-core: the last messages that fit, beginning with a user's."""
    from langchain_core.messages import convert_to_openai_messages, trim_messages

    def tokens(found: Any) -> int:
        return holdfast.count(convert_to_openai_messages(found), format="openai").total

    kept = trim_messages(
        messages,
        max_tokens=BUDGET,
        token_counter=tokens,
        strategy="last",
        include_system=True,
        start_on="human",
    )
    found = convert_to_openai_messages(kept)
    return found if isinstance(found, list) else [found]


def litellm(messages: Messages) -> Messages:
    """``trim_messages`` of litellm."""
    from litellm.utils import trim_messages

    return list(trim_messages(messages, model="gpt-4o", max_tokens=BUDGET))


def headroom(messages: Messages) -> Messages:
    """``compress`` of headroom, the budget as the window of its model."""
    from headroom import compress

    return list(compress(messages, model="gpt-4o", model_limit=BUDGET).messages)


CONTENDERS: dict[str, Callable[[Messages], Messages]] = {
    "holdfast compress": ours,
    "langchain-core trim_messages": langchain,
    "litellm trim_messages": litellm,
    "headroom compress": headroom,
}


def rows() -> Iterator[tuple[str, ...]]:
    """A row for each contender and conversation."""
    for file, facts in FACTS.items():
        messages: Messages = json.loads((EXAMPLES / f"{file}.json").read_text("utf-8"))
        for name, fit in CONTENDERS.items():
            try:
                found = fit(json.loads(json.dumps(messages)))
            except ImportError:
                yield file, name, "not installed", "", ""
                continue
            text = json.dumps(found, ensure_ascii=False).lower()
            kept = sum(fact.lower() in text for fact in facts)
            size = holdfast.count(found, format="openai").total if found else 0
            refused = len(holdfast.validate(found, "openai"))
            yield file, name, f"{size:,}", f"{kept} of {len(facts)}", "yes" if not refused else "no"


def main() -> int:
    """Print the table."""
    print(f"| conversation | fitted to {BUDGET:,} tokens by | tokens | facts kept | valid |")
    print("|---|---|---:|---:|---|")
    for row in rows():
        print(f"| {' | '.join(row)} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
