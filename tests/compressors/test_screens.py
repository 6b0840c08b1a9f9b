"""Notes cannot tell screens and documents: as many of the newest stay as the room holds."""

import base64
import struct

import pytest

import holdfast


def screen(number):
    """The beginning of an image of 1,280 by 800 points: what its size is read from."""
    size = struct.pack(">II", 1_280, 800) + b"\x08\x02\0\0\0"
    head = b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + b"IHDR" + size
    data = base64.b64encode(head + bytes([number] * 16)).decode()
    source = {"type": "base64", "media_type": "image/png", "data": data}
    return {"type": "image", "source": source}


ACTIONS = (
    ("I look at the page.", {"action": "screenshot"}),
    ("I click the search field.", {"action": "left_click", "coordinate": [640, 210]}),
    ("I search for it.", {"action": "type", "text": "invoice 2291 Hartmann"}),
    ("The total is 1,480.50 EUR, due 3 November.", {"action": "scroll", "scroll_amount": 5}),
)


def steps(count):
    messages = [{"role": "user", "content": "Find the invoice of Hartmann. Never press Delete."}]
    for number in range(count):
        text, action = ACTIONS[number % len(ACTIONS)]
        said = {"type": "text", "text": f"{text} That is page {number}."}
        call = {"type": "tool_use", "id": f"t{number}", "name": "computer", "input": action}
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": [screen(number)]}
        messages += [
            {"role": "assistant", "content": [said, call]},
            {"role": "user", "content": [result]},
        ]
    return messages


def screens(messages):
    """The images, as they stand in the messages."""
    blocks = [block for each in messages for block in each["content"] if not isinstance(block, str)]
    parts = [part for block in blocks for part in block.get("content", ()) or ()]
    return [part["source"]["data"] for part in parts if part["type"] == "image"]


@pytest.mark.parametrize("budget", range(1_700, 20_000, 1_300))
def test_the_newest_screens_that_fit_stay(budget):
    messages = steps(30)
    result = holdfast.compress(messages, budget, format="anthropic", model="claude-sonnet-4-5")
    each = 1_366  # tokens of an image of this size, by the vendor's formula
    kept = screens(result.messages)
    assert kept == screens(messages)[-len(kept) :]
    assert len(kept) >= max(1, (budget - 1_000) // (each + 60))
    assert result.budget_met
    assert "Never press Delete." in str(result.messages)


def test_what_was_done_before_them_is_told():
    result = holdfast.compress(steps(30), 9_000, format="anthropic", model="claude-sonnet-4-5")
    assert "1,480.50 EUR" in str(result.messages[1])


def report(pages):
    """A document as the vendor takes it, of which the pages are counted."""
    page = b"1 0 obj<</Type/Page>>endobj\n"
    data = base64.b64encode(b"%PDF-1.4\n" + page * pages + b"%%EOF").decode()
    source = {"type": "base64", "media_type": "application/pdf", "data": data}
    return {"type": "document", "source": source}


@pytest.mark.parametrize(("budget", "stays"), [(24_000, True), (16_000, True), (8_000, False)])
def test_a_document_that_does_not_fit_takes_nothing_else_with_it(budget, stays):
    asked = {"type": "text", "text": "Here is the report of the harbour."}
    messages = [{"role": "user", "content": [report(4), asked]}]
    for number in range(60):
        said = f"Quay {number} is {100 + number} metres long. " * 20
        messages += [
            {"role": "assistant", "content": said},
            {"role": "user", "content": f"And quay {number + 1}?"},
        ]
    result = holdfast.compress(messages, budget, format="anthropic", model="claude-sonnet-4-5")
    assert result.budget_met
    assert ("application/pdf" in str(result.messages)) is stays
    assert "Quay 59 is 159 metres long." in str(result.messages)
    assert result.tokens > budget * 0.85


@pytest.mark.parametrize(("budget", "stays"), [(14_000, True), (5_000, False), (2_500, False)])
def test_a_page_and_its_picture_that_are_too_long_lose_the_picture_and_leave_notes(budget, stays):
    messages = steps(6)
    lines = [f"- text: Total of order {n}: {n * 7}.50 EUR [ref=e{n}]" for n in range(400)]
    page = {"type": "text", "text": "\n".join(lines)}
    messages[-1]["content"][0]["content"] = [page, screen(9)]
    result = holdfast.compress(messages, budget, format="anthropic", model="claude-sonnet-4-5")
    newest = str(result.messages[-1])
    assert result.budget_met
    assert ("image/png" in newest) is stays
    assert ("[… 1 image left out …]" in newest) is not stays
    assert "1,480.50 EUR" in str(result.messages)
    assert result.tokens > budget * 0.85


def test_a_document_that_came_later_stays_where_the_rest_can_make_way():
    messages = [
        {"role": "user", "content": "I need help with a report."},
        {"role": "assistant", "content": "Please attach it."},
        {"role": "user", "content": [report(2), {"type": "text", "text": "Here it is."}]},
    ]
    for number in range(60):
        said = f"Quay {number} is {100 + number} metres long. " * 20
        messages += [
            {"role": "assistant", "content": said},
            {"role": "user", "content": f"And quay {number + 1}?"},
        ]
    options = {"format": "anthropic", "model": "claude-sonnet-4-5"}
    whole = holdfast.compress(messages, 100_000, **options).tokens
    for budget in (whole - 100, whole * 9 // 10, whole * 8 // 10):
        result = holdfast.compress(messages, budget, **options)
        assert "application/pdf" in str(result.messages)
        assert result.tokens > budget * 0.85
