"""Text on the pages can be read: its contrast, computed as WCAG 2 has it, is at least 4.5 to 1."""

import re
from importlib.resources import files

import pytest

STYLE = files("holdfast.reports").joinpath("page", "page.css").read_text("utf-8")
OF_SESSIONS = files("holdfast.session").joinpath("page.css").read_text("utf-8")
INKS = ("ink", "quiet", "changed-ink", "offloaded-ink", "dropped-ink", "inserted-ink")
GROUNDS = ("paper", "card", "hover")


def colours(scheme):
    """The colours of a scheme by name; the second block of the style is the dark one."""
    light, dark = re.findall(r":root \{(.*?)\}", STYLE, re.DOTALL)[:2]
    found = dict(re.findall(r"--([\w-]+): (#\w+)", light))
    return found | (dict(re.findall(r"--([\w-]+): (#\w+)", dark)) if scheme == "dark" else {})


def luminance(colour):
    digits = colour[1:] if len(colour) == 7 else "".join(each * 2 for each in colour[1:])
    parts = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("ground", GROUNDS)
@pytest.mark.parametrize("ink", INKS)
def test_every_ink_can_be_read_on_every_ground(scheme, ground, ink):
    found = colours(scheme)
    assert contrast(found[ink], found[ground]) >= 4.5, (found[ink], found[ground])


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("ground", ["gone", "came"])
def test_what_left_and_what_came_can_be_read(scheme, ground):
    found = colours(scheme)
    assert contrast(found["ink"], found[ground]) >= 4.5
    assert contrast(found["quiet"], found[ground]) >= 4.5


def test_no_text_is_made_fainter_than_its_ink():
    assert "opacity" not in STYLE + OF_SESSIONS


def test_no_healthy_state_is_red():
    assert "dropped-ink" not in OF_SESSIONS
    assert ".dropped { --tone: var(--dropped); --tone-ink: var(--quiet); }" in STYLE
