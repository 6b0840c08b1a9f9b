"""What a case may expect of its outcome; every key that is named must hold."""

import json
import re
from collections.abc import Iterator
from typing import Any

from holdfast.stores.artifacts import ArtifactStore
from tests.conformance.outcome import Outcome

_REFERENCE = re.compile(r"content_[0-9a-f]{64}|(?<=\[original: )[0-9a-f]{12,64}")


def unmet(expect: dict[str, Any], given: Any, outcome: Outcome) -> Iterator[str]:
    """One line for each expectation that does not hold, and for each that is not known."""
    for key, wanted in expect.items():
        if key in ("raises", "tolerance"):
            continue
        if outcome.raised is not None:
            yield f"raised {outcome.raised!r}"
            return
        check = _CHECKS.get(key)
        problem = check(wanted, given, outcome) if check else _compare(key, wanted, outcome, expect)
        if problem:
            yield f"{key}: {problem}"


def _compare(key: str, wanted: Any, outcome: Outcome, expect: dict[str, Any]) -> str:
    if key not in outcome.facts:
        return "the harness does not know this expectation"
    found = outcome.facts[key]
    if _same(wanted, found, expect.get("tolerance", 1e-9)):
        return ""
    return f"wanted {_short(wanted)}, found {_short(found)}"


def _same(wanted: Any, found: Any, tolerance: float) -> bool:
    if isinstance(wanted, dict) and isinstance(found, dict):
        return all(
            key in found and _same(value, found[key], tolerance) for key, value in wanted.items()
        )
    if isinstance(wanted, list) and isinstance(found, list | tuple):
        return len(wanted) == len(found) and all(
            map(_same, wanted, found, [tolerance] * len(wanted))
        )
    if isinstance(wanted, float) and isinstance(found, int | float):
        return abs(wanted - found) <= tolerance
    return bool(wanted == found)


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) < 300 else text[:300] + "…"


def _content(message: dict[str, Any]) -> str:
    content = message.get("content")
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)


def _all_text(outcome: Outcome) -> str:
    return "\n".join(_content(message) for message in outcome.messages)


def _unchanged(wanted: bool, given: Any, outcome: Outcome) -> str:
    return "" if (outcome.messages == given) is wanted else f"found {_short(outcome.messages)}"


def _messages(wanted: Any, given: Any, outcome: Outcome) -> str:
    return "" if outcome.messages == wanted else f"found {_short(outcome.messages)}"


def _contents(wanted: Any, given: Any, outcome: Outcome) -> str:
    found = [_content(message) for message in outcome.messages]
    return "" if found == wanted else f"found {_short(found)}"


def _count(wanted: int, given: Any, outcome: Outcome) -> str:
    return "" if len(outcome.messages) == wanted else f"found {len(outcome.messages)}"


def _message_at(wanted: dict[str, Any], given: Any, outcome: Outcome) -> str:
    for index, message in wanted.items():
        found = outcome.messages[int(index)]
        if "content_contains" in message:
            if message["content_contains"] not in _content(found):
                return f"{index} is {_short(found)}"
        elif "content_regex" in message:
            if not re.search(message["content_regex"], _content(found)):
                return f"{index} is {_short(found)}"
        elif found != message:
            return f"{index} is {_short(found)}"
    return ""


def _contains(wanted: list[str], given: Any, outcome: Outcome) -> str:
    missing = [text for text in wanted if text not in _all_text(outcome)]
    return f"missing {missing}" if missing else ""


def _not_contains(wanted: list[str], given: Any, outcome: Outcome) -> str:
    there = [text for text in wanted if text in _all_text(outcome)]
    return f"there {there}" if there else ""


def _contains_in_order(wanted: list[str], given: Any, outcome: Outcome) -> str:
    text, start = _all_text(outcome), 0
    for piece in wanted:
        start = text.find(piece, start)
        if start < 0:
            return f"{piece!r} is missing or too early"
        start += len(piece)
    return ""


def _max_tokens(wanted: int, given: Any, outcome: Outcome) -> str:
    return "" if outcome.tokens <= wanted else f"{outcome.tokens} tokens"


def _order_preserved(wanted: bool, given: list[Any], outcome: Outcome) -> str:
    places = [given.index(message) for message in outcome.messages if message in given]
    remaining = iter(given)
    kept = [message for message in outcome.messages if message in given]
    return "" if all(any(m == g for g in remaining) for m in kept) is wanted else f"order {places}"


def _no_orphans(wanted: bool, given: Any, outcome: Outcome) -> str:
    waiting: set[str] = set()
    for message in outcome.messages:
        if message["role"] == "tool":
            if message.get("tool_call_id") not in waiting:
                return f"orphan {message.get('tool_call_id')}"
            waiting.discard(message["tool_call_id"])
            continue
        if waiting:
            return f"unanswered {sorted(waiting)}"
        waiting = {call["id"] for call in message.get("tool_calls") or []}
    return ""


def _ids_preserved(wanted: bool, given: list[Any], outcome: Outcome) -> str:
    known = {call["id"] for message in given for call in message.get("tool_calls") or []}
    found = {m["tool_call_id"] for m in outcome.messages if "tool_call_id" in m}
    return (
        ""
        if found <= known | {m.get("tool_call_id") for m in given}
        else f"new ids {found - known}"
    )


def _characters(messages: list[Any]) -> int:
    return len(json.dumps(messages, ensure_ascii=False))


def _artifact(key: str, outcome: Outcome) -> str | None:
    return None if outcome.store is None else ArtifactStore(outcome.store).get(key)


def _store_get(wanted: dict[str, str], given: Any, outcome: Outcome) -> str:
    """By key, or by the index of the message that names it."""
    wrong = [
        place
        for place, text in wanted.items()
        if _artifact(_key_at(place, outcome), outcome) != text
    ]
    return f"another original is kept of {wrong}" if wrong else ""


def _key_at(place: str, outcome: Outcome) -> str:
    if not re.fullmatch(r"-?\d{1,6}", place):
        return place
    named = _REFERENCE.findall(_content(outcome.messages[int(place)]))
    return named[-1] if named else place


def _store_contains(wanted: str, given: Any, outcome: Outcome) -> str:
    there = outcome.store is not None and outcome.store.get(wanted) is not None
    return "" if there or _artifact(wanted, outcome) is not None else "there is no such key"


def _recoverable(wanted: bool, given: list[Any], outcome: Outcome) -> str:
    """Every reference gives back what stood in the message with the same call id before."""
    before = {message.get("tool_call_id"): _content(message) for message in given}
    for message in outcome.messages:
        for key in _REFERENCE.findall(_content(message)):
            if (_artifact(key, outcome) == before.get(message.get("tool_call_id"))) is not wanted:
                return f"{key} is not the original"
    return ""


def _json_at(wanted: dict[str, Any], given: Any, outcome: Outcome) -> str:
    found = {index: json.loads(_content(outcome.messages[int(index)])) for index in wanted}
    return "" if found == wanted else f"found {_short(found)}"


def _json_key_order(wanted: Any, given: Any, outcome: Outcome) -> str:
    places = wanted if isinstance(wanted, dict) else {"-1": wanted}
    found = {index: list(json.loads(_content(outcome.messages[int(index)]))) for index in places}
    return "" if found == places else f"found {_short(found)}"


def _idempotent(wanted: bool, given: Any, outcome: Outcome) -> str:
    again = outcome.again(outcome.messages) if outcome.again else outcome.messages
    return "" if again == outcome.messages else f"again gives {_short(again)}"


def _summaries(outcome: Outcome) -> list[int]:
    return [
        i
        for i, message in enumerate(outcome.messages)
        if _content(message).startswith("[HISTORY_SUMMARY")
    ]


def _digest_count(wanted: int, given: Any, outcome: Outcome) -> str:
    return _holds(len(_summaries(outcome)) == wanted, f"found {len(_summaries(outcome))}")


def _summary_before(wanted: str, given: Any, outcome: Outcome) -> str:
    later = [i for i, message in enumerate(outcome.messages) if wanted in _content(message)]
    summaries = _summaries(outcome)
    return _holds(
        bool(later and summaries and summaries[0] < later[0]),
        f"digest at {summaries}, text at {later}",
    )


def _llm_call_input(wanted: dict[str, Any], given: Any, outcome: Outcome) -> str:
    """What the model was given at each call, in ``facts["llm_inputs"]``."""
    asked = outcome.facts.get("llm_inputs", [])
    for index, text in wanted.items():
        if int(index) >= len(asked):
            return f"there were {len(asked)} calls"
        missing = [part for part in text.get("contains", []) if part not in asked[int(index)]]
        extra = [part for part in text.get("not_contains", []) if part in asked[int(index)]]
        if missing or extra:
            return f"call {index}: missing {missing}, there {extra}"
    return ""


def _all_runs_equal(wanted: bool, given: Any, outcome: Outcome) -> str:
    runs = outcome.facts.get("runs", [])
    return _holds(
        len(runs) > 1 and all(run == runs[0] for run in runs) is wanted, f"{len(runs)} runs differ"
    )


def _all_distinct(wanted: bool, given: Any, outcome: Outcome) -> str:
    found = outcome.facts["value"]
    return _holds((len(set(found)) == len(found)) is wanted, f"found {found}")


def _final(wanted: dict[str, Any], given: Any, outcome: Outcome) -> str:
    return "; ".join(unmet(wanted, given, outcome))


def _holds(condition: bool, told: str) -> str:
    return "" if condition else told


_CHECKS = {
    "unchanged": _unchanged,
    "messages": _messages,
    "contents": _contents,
    "count": _count,
    "message_at": _message_at,
    "contains": _contains,
    "not_contains": _not_contains,
    "contains_in_order": _contains_in_order,
    "max_tokens": _max_tokens,
    "order_preserved": _order_preserved,
    "no_orphan_tool_messages": _no_orphans,
    "tool_call_ids_preserved": _ids_preserved,
    "idempotent": _idempotent,
    "store_get": _store_get,
    "store_contains_key": _store_contains,
    "recoverable": _recoverable,
    "json_at": _json_at,
    "json_key_order": _json_key_order,
    "digest_count": _digest_count,
    "summary_before": _summary_before,
    "llm_call_input": _llm_call_input,
    "all_runs_equal": _all_runs_equal,
    "all_distinct": _all_distinct,
    "final": _final,
    "hot_max": lambda w, g, o: _holds(
        o.facts["hot_tokens"] <= w, f"{o.facts.get('hot_tokens')} tokens"
    ),
    "non_empty": lambda w, g, o: _holds(bool(o.messages) is w, "empty"),
    "fewer_messages": lambda w, g, o: _holds(
        (len(o.messages) < len(g)) is w, f"{len(o.messages)} messages"
    ),
    "shrinks": lambda w, g, o: _holds(
        (_characters(o.messages) < _characters(g)) is w, "not smaller"
    ),
    "not_longer_than_input": lambda w, g, o: _holds(
        _characters(o.messages) <= _characters(g), "longer"
    ),
}
