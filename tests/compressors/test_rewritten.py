"""Of a text that is written or read again and again, the newest version is kept."""

import json

import pytest

import holdfast
from holdfast.compressors.note_text import older_versions, pieces_of
from holdfast.stream import StreamEvent

DRAFT = (
    "Dear Ms. Okafor,",
    "Thank you for meeting with us on Tuesday about the harbour renovation.",
    "We would like to propose a first phase that begins on 3 March and ends on 18 April.",
    "Our team of nine will dredge the eastern basin and replace forty metres of quay wall.",
    "The price for this phase is 214,000 euros, of which thirty percent is due at signing.",
    "Permits for night work have been requested from the port authority.",
    "Noise will stay below 65 decibels between ten in the evening and six in the morning.",
    "We will store the dredged material at the Lindholm site until it has been tested.",
    "Fishing boats can use the western basin during the whole phase.",
    "A weekly report with photographs will be sent to you every Friday.",
    "Should the weather delay us, we will extend the phase by at most ten working days.",
    "We carry insurance of five million euros for damage to vessels.",
    "With kind regards,",
    "Jonas Lindqvist",
)
CHANGES = (
    ("3 March", "10 March"),
    ("forty", "fifty-five"),
    ("214,000", "198,500"),
    ("thirty", "twenty"),
    ("Lindholm", "Norrvik"),
    ("nine", "twelve"),
    ("ten working days", "four working days"),
    ("weekly", "monthly"),
    ("65 decibels", "60 decibels"),
    ("five million", "six million"),
)
ASIDE = (
    ("What is a typical price for dredging?", "Between 8 and 25 euros per cubic metre."),
    ("Could winter ice be a problem?", "Hardly; the basin was free of ice in eight of ten years."),
    ("What else should I bring along?", "Drawings, the certificate, and two references."),
)


def versions():
    """The draft after each change."""
    text = "\n".join(DRAFT)
    found = [text]
    for old, new in CHANGES:
        found.append(text := text.replace(old, new))
    return found


def said(role, text):
    return {"role": role, "content": text}


def called(number, name, returned, **arguments):
    function = {"name": name, "arguments": json.dumps(arguments)}
    call = {"id": f"c{number}", "type": "function", "function": function}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"c{number}", "content": returned},
    ]


def in_words(text, _):
    return [said("assistant", f"Here it is:\n\n{text}")]


def in_a_fence(text, _):
    return [said("assistant", f"Here it is:\n\n```\n{text}\n```\n\nTell me what to change.")]


def read_differently(text, number):
    command = ("cat letter.md", "sed -n 1,40p letter.md", "git show HEAD:letter.md")[number % 3]
    return called(number, "bash", text, command=command)


def as_a_page(text, number):
    lines = [f'- listitem [ref=e{n}]: "{line}"' for n, line in enumerate(text.split("\n"))]
    shown = "\n".join(["### Page", "- Title: Letter", *lines])
    return called(number, "click", shown, ref=f"e{number}")


@pytest.mark.parametrize("budget", [800, 1_200])
@pytest.mark.parametrize("shown", [in_words, in_a_fence, read_differently, as_a_page])
def test_the_newest_version_is_told_whole(shown, budget):
    messages = [said("user", "Please keep the letter to Ms. Okafor as I tell you.")]
    texts = versions()
    for number, text in enumerate(texts):
        change = CHANGES[number - 1]
        messages.append(said("user", f"Say {change[1]!r} instead of {change[0]!r}."))
        messages += [*shown(text, number), said("assistant", "Done.")]
    for question, answer in ASIDE:
        messages += [said("user", question), said("assistant", answer)]
    messages.append(said("user", "Now give me the whole text once more."))
    told = str(holdfast.compress(messages, budget).messages)
    assert [line for line in texts[-1].split("\n") if line not in told] == []


def events(*texts, by="tool"):
    function = "outcome" if by == "tool" else "words"
    return [StreamEvent(function, by, text, at, 0) for at, text in enumerate(texts)]


def older(*texts, by="tool"):
    """The older pieces of each text: their words, and whether they are repeated."""
    given = events(*texts, by=by)
    texts = [pieces_of(event) for event in given]
    return {
        texts[piece.event].reading.pieces[piece.number].text: is_repeated
        for piece, is_repeated in older_versions(given, texts).items()
    }


LINES = [f"The {name} of the {name} stands at gate {n}." for n, name in enumerate(DRAFT[2].split())]


def test_what_is_out_of_view_of_a_later_part_of_a_file_is_not_older():
    found = "\n".join(older("\n".join(LINES), "\n".join(LINES[9:])))
    assert LINES[12] in found
    assert LINES[2] not in found


def test_what_a_later_version_has_otherwise_is_replaced():
    first, second, *_ = versions()
    found = older(first, second)
    assert [text for text, is_repeated in found.items() if not is_repeated] == [DRAFT[2]]


def test_a_frame_around_every_output_makes_none_a_version_of_another():
    frame = "Process exited with code 0 after the usual checks\n\n{}\n\nThe shell is ready again"
    outputs = ("Porto has nine ferries", "Braga lies inland", "Faro opens at dawn")
    found = older(*[frame.format(each) for each in outputs])
    assert found
    assert not set(outputs) & found.keys()


def test_what_another_speaker_repeats_is_no_version():
    given = [*events(DRAFT[2], by="user"), *events(DRAFT[2], by="assistant")]
    assert older_versions(given, [pieces_of(event) for event in given]) == {}


def test_what_another_user_repeats_is_no_version():
    said = events("I have no car.", "I have no car.", by="user")
    given = [each._replace(speaker=name) for each, name in zip(said, ("Ada", "Bo"), strict=True)]
    assert older_versions(given, [pieces_of(event) for event in given]) == {}
    assert len(older("I have no car.", "I have no car.", by="user")) == 1


def test_a_part_of_a_file_is_older_than_the_whole_however_deep_its_lines_stand():
    page = ["class Ledger:", *(f"    {'  ' * (n % 3)}entry_{n} = owed({n})" for n in range(24))]
    numbered = [f"{number}\t{line}" for number, line in enumerate(page, 1)]
    part, whole = "\n".join(numbered[10:14]), "\n".join(numbered)
    given = events(part, whole, by="tool")
    texts = [pieces_of(event) for event in given]
    assert set(older_versions(given, texts).values()) == {True}
    assert texts[0].pieces[0].text.startswith("11   ")
