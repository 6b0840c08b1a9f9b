"""Claude's own vocabularies, where their package is installed and where it is not."""

import sys
from importlib import import_module

import pytest

from holdfast.kernel.errors import MissingExtraError
from holdfast.tokens import _named, counter_for

PACKAGE = '''
def token_count(text, version="3.0"):
    """A word is a token, more for newer models; a message has a frame."""
    return {"3.0": 8, "4.7": 12, "4.8": 6}[version] + len(text.split()) * (1 + (version > "4"))
'''


def forget():
    _named.cache_clear()
    for name in ("ctok", "holdfast.tokens.claude"):
        sys.modules.pop(name, None)


@pytest.fixture(autouse=True)
def forgotten():
    """What was found to be installed is looked for anew, before and after."""
    forget()
    yield
    forget()


@pytest.fixture
def installed(tmp_path, monkeypatch):
    (tmp_path / "ctok.py").write_text(PACKAGE)
    monkeypatch.syspath_prepend(str(tmp_path))


@pytest.mark.parametrize(
    ("model", "name", "tokens"),
    [
        ("claude-3-5-sonnet@20240620", "claude_3", 3),
        ("anthropic/claude-opus-4-6", "claude_3", 3),
        ("claude-opus-4-7", "claude_4.7", 6),
        ("us.anthropic.claude-opus-4-8-v1:0", "claude_4.8", 6),
        ("my-claude-sonnet-5", "claude_4.8", 6),
    ],
)
def test_the_models_own_vocabulary_counts_without_the_frame_of_a_message(
    installed, model, name, tokens
):
    counter = counter_for(model)
    assert (counter.name, counter.accuracy.error) == (name, 0.02)
    assert counter.count("one two three") == tokens
    assert counter.count("") == 0


def test_without_the_package_a_vocabulary_near_it_counts_and_says_how_far_off_it_is(monkeypatch):
    monkeypatch.setitem(sys.modules, "ctok", None)
    assert counter_for("claude-3-opus").accuracy.error == 0.25
    assert counter_for("claude-opus-4-7").accuracy.error == 0.42
    with pytest.raises(MissingExtraError, match=r"pip install 'holdfast\[claude\]'"):
        import_module("holdfast.tokens.claude")
