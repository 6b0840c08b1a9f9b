"""The report as one page: complete, self-contained, and deaf to what messages say."""

from __future__ import annotations

import re
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from html.parser import HTMLParser

import pytest

from holdfast.kernel.edits import Drop, Insert, Offload, Replace
from holdfast.reports import account
from holdfast.reports.pages import html_report
from holdfast.result import CompressionResult

from .results import BY_LETTER, assistant, call, output, result_of, user

HOSTILE = (
    "</pre></script><script>alert(1)</script><img src=x onerror=alert(2)> \" ' & "
    "${policy} $style \x00 \ud800"
)
VOID = {"meta", "input"}


class Page(HTMLParser):
    """The elements of a page; fails where one is not closed in its turn."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)

    def every(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


def page_of(result: CompressionResult) -> str:
    return html_report(account(result, counter=BY_LETTER))


def sample(text: str = "some words") -> CompressionResult:
    messages = [
        user(text),
        call("a", "read", text),
        output("a", f"{text}\n" * 80),
        assistant(text),
        user("and?"),
    ]
    shrink = ("shrink", [Offload(2, 0, f"{text}\ncut\n", text, text)])
    again = ("prune", [Replace(2, 0, f"{text}\n", text)])
    return result_of(
        messages, shrink, again, (text, [Drop((0,), text), Insert(0, "user", text, text, (0, 0))])
    )


def test_every_message_has_a_row_with_its_state():
    rows = [row for row in Page(page_of(sample())).every("li") if "data-state" in row]
    assert [(row["id"], row["data-state"]) for row in rows] == [
        ("n0", "inserted"),
        ("m1", "kept"),
        ("m2", "offloaded"),
        ("m3", "kept"),
        ("m4", "kept"),
        ("m0", "dropped"),
    ]


def test_the_page_opens_on_the_notes_and_keeps_what_left_behind_one_line():
    page = page_of(sample())
    order = [
        'class="inserted" data-state="inserted"><details open>',
        'class="kept" data-state="kept"><details>',
        '<details class="left"><summary>1 message not sent',
        'class="dropped" data-state="dropped"><details>',
    ]
    assert sorted(order, key=page.index) == order


@pytest.mark.parametrize(
    "text",
    [HOSTILE, '"><svg onload=alert(1)>', "<!--", "]]> and more", "<style>*{display:none}</style>"],
)
def test_what_a_message_says_stays_text(text):
    plain, hostile = Page(page_of(sample())), Page(page_of(sample(text)))
    assert [tag for tag, _ in hostile.elements] == [tag for tag, _ in plain.elements]
    assert [set(attributes) for _, attributes in hostile.elements] == [
        set(attributes) for _, attributes in plain.elements
    ]
    assert text.split("\x00", maxsplit=1)[0] in "".join(hostile.texts)


def test_the_page_holds_no_character_that_a_page_may_not_hold():
    page = page_of(sample(HOSTILE))
    assert page.encode("utf-8")
    assert "\x00" not in page


def test_the_page_fetches_nothing():
    page = Page(page_of(sample()))
    links = [
        value
        for _, attributes in page.elements
        for name, value in attributes.items()
        if name in ("src", "href")
    ]
    assert links
    assert all(link.startswith("#") for link in links)
    style = re.search(r"<style>(.*?)</style>", page_of(sample()), re.DOTALL)
    assert "url(" not in style[1]
    assert "@import" not in style[1]


def test_every_link_leads_to_a_message():
    page = Page(page_of(sample()))
    ids = {attributes["id"] for _, attributes in page.elements if "id" in attributes}
    assert {link["href"].removeprefix("#") for link in page.every("a")} <= ids


def test_the_policy_lets_run_only_the_script_and_style_of_the_page():
    text = page_of(sample())
    (policy,) = (meta["content"] for meta in Page(text).every("meta") if meta.get("http-equiv"))
    assert "default-src 'none'" in policy
    for tag in ("script", "style"):
        (content,) = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        digest = b64encode(sha256(content.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert "unsafe" not in policy
    assert not any(
        name.startswith("on") or name == "style"
        for _, attributes in Page(text).elements
        for name in attributes
    )


def test_a_changed_message_shows_what_went_and_what_came():
    messages = [user("look"), call("a"), output("a", "one\ntwo\nthree\n"), user("and?")]
    page = page_of(result_of(messages, ("shrink", [Replace(2, 0, "one\n2\nthree\n", "shorter")])))
    assert "<del>two</del>" in page
    assert "<ins>2</ins>" in page
    assert "<b>shrink</b> changed it: shorter" in page


def test_an_offloaded_message_names_the_key_and_both_steps():
    page = page_of(sample())
    assert "the original is kept under <code>some words</code>" in page
    assert "<b>shrink</b> offloaded it" in page
    assert "<b>prune</b> changed it" in page


def test_a_very_long_text_is_cut_in_the_middle_and_says_so():
    page = page_of(result_of([user("a" * 3_000_000 + "the end"), user("b")]))
    assert len(page) < 200_000
    assert "2,960,007 characters are left out of this page" in page
    assert "the end</pre>" in page


def test_totals_verdict_and_steps_are_there():
    text = " ".join(Page(page_of(sample())).texts)
    assert "Budget of 10,000 tokens met" in text
    assert re.search(r"\d+ offloaded", text)
    missed = page_of(replace(sample(), spent=replace(sample().spent, limit=1), detail="too much"))
    assert 'class="verdict missed"' in missed


def test_a_result_without_steps_and_without_messages_is_a_page():
    assert "No step was needed." in Page(page_of(result_of([]))).texts


def test_the_same_result_gives_the_same_page():
    assert page_of(sample()) == page_of(sample())
