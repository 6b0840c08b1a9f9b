"""What a person does with a result, and what the types of options are."""

import json
from pathlib import Path
from typing import get_args

import pytest

import holdfast
from holdfast import names
from holdfast.compressors import COMPRESSORS
from holdfast.formats import FORMATS
from holdfast.profiles import load_profile, preset_names, profile_names
from holdfast.reports import REPORTS

TALK = [
    {"role": role, "content": f"{n} {text} " * 30}
    for n in range(20)
    for role, text in (("user", "where is order"), ("assistant", "it is on its way as"))
]


@pytest.fixture
def result():
    return holdfast.compress(TALK, "1k")


def test_a_result_gives_its_originals_and_its_size_itself(result):
    assert result.restore() == TALK
    assert result.tokens == holdfast.count(result.messages).total <= result.limit == 1_000
    assert result.utilization == round(result.tokens / 10)


def test_a_result_comes_back_from_its_file(result, tmp_path):
    file = tmp_path / "result.json"
    result.save(file)
    again = holdfast.CompressionResult.load(file)
    assert again == result
    assert again.restore() == TALK


def test_a_failure_to_save_leaves_the_file_that_was_there(tmp_path):
    file = tmp_path / "result.json"
    file.write_text("before")
    odd = holdfast.compress([{"role": "user", "content": "x", "extra": {1, 2}}], 100)
    with pytest.raises(holdfast.InputError, match="cannot be written as JSON"):
        odd.save(file)
    assert file.read_text() == "before"
    assert list(tmp_path.iterdir()) == [file]


def test_what_is_no_file_of_a_result_is_named(tmp_path):
    (tmp_path / "a.json").write_text("{}")
    with pytest.raises(holdfast.InputError, match=r"a\.json: this is not the JSON of a result"):
        holdfast.CompressionResult.load(tmp_path / "a.json")
    with pytest.raises(holdfast.InputError, match=r"b\.json: there is no such file; check the p"):
        holdfast.CompressionResult.load(tmp_path / "b.json")
    with pytest.raises(holdfast.InputError, match="no/dir.*: it cannot be written"):
        holdfast.compress(TALK, 1_000).save(tmp_path / "no/dir/a.json")


def test_a_report_is_written_as_its_file_is_named(result, tmp_path):
    page, text = tmp_path / "report.html", tmp_path / "report.txt"
    assert result.report(page) == page.read_text("utf-8")
    assert page.read_text("utf-8").startswith("<!doctype html>")
    assert result.report(text) == text.read_text("utf-8") == result.report()
    assert result.report(text, form="html").startswith("<!doctype html>")


@pytest.mark.parametrize("name", ["report.pdf", "report"])
def test_a_report_is_not_written_into_a_file_of_an_unknown_form(result, tmp_path, name):
    with pytest.raises(
        holdfast.ConfigError, match=f"{name}: its name does not say the form of the report"
    ):
        result.report(tmp_path / name)
    assert not list(tmp_path.iterdir())
    assert result.report(tmp_path / name, form="text") == (tmp_path / name).read_text("utf-8")


def test_a_result_is_one_short_line_in_a_shell_and_the_report_in_a_notebook(result):
    shown = repr(result)
    assert "\n" not in shown
    assert len(shown) < 120
    assert f"{result.tokens:,} of 1,000" in shown
    notebook = result._repr_html_()
    assert notebook.startswith("<iframe srcdoc=")
    assert "<script" not in notebook  # the page stands in the frame, escaped


def test_the_window_of_the_model_is_the_budget_where_none_is_given():
    assert holdfast.compress(TALK, model="gpt-4o").limit == 128_000
    with pytest.raises(holdfast.ConfigError, match="budget: no budget is given"):
        holdfast.compress(TALK)


def test_the_model_that_a_body_names_counts_it_and_gives_the_window():
    body = {"model": "gpt-4", "messages": TALK}
    result = holdfast.compress(body)
    assert (result.limit, result.counter) == (8_192, holdfast.count(TALK, model="gpt-4").counter)
    assert holdfast.count(body).counter == result.counter
    assert holdfast.compress(body, model="gpt-4o").limit == 128_000
    assert holdfast.compress(body, 1_000, counter="words").counter == "words"


def test_a_role_that_no_provider_has_is_told_and_its_message_kept():
    talk = [{"role": "user", "content": "hi"}, {"role": "assistent", "content": "hello"}]
    assert holdfast.compress(talk, 100).messages == talk
    assert holdfast.compress(talk, 100).detail == (
        "message 1 has the role 'assistent', which no provider knows (did you mean 'assistant'?): "
        "it is read as a user's"
    )
    assert [v.rule for v in holdfast.validate(talk)] == ["roles_known"]
    assert holdfast.compress(talk[:1], 100).detail == ""


def test_a_profile_may_be_a_path(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text('name = "mine"\n[[steps]]\nstrategy = "trim"\n')
    assert holdfast.compress(TALK, 1_000, profile=file).strategy_name == "mine"
    assert holdfast.Session("t", budget=1_000, profile=Path(file)).fit().messages == []


def test_a_form_may_be_an_object(result):
    form = FORMATS.load("plain")()
    assert holdfast.compress(TALK, 1_000, format=form).format == "plain"
    assert holdfast.count(TALK, format=form).total == holdfast.count(TALK).total


@pytest.mark.parametrize(
    ("type_of_names", "known"),
    [
        (names.ProfileName, {*profile_names(), *preset_names()}),
        (names.FormatName, set(FORMATS.table)),
        (names.ProviderName, {*FORMATS.table, *FORMATS.aliases}),
        (names.StrategyName, {*COMPRESSORS.table, *COMPRESSORS.aliases, *preset_names()}),
        (names.ReportForm, set(REPORTS.table)),
    ],
)
def test_the_types_of_names_hold_the_names_that_there_are(type_of_names, known):
    assert set(get_args(type_of_names)) == known


def test_each_profile_that_the_type_names_can_be_loaded():
    assert all(load_profile(name).steps for name in get_args(names.ProfileName))


@pytest.mark.parametrize(
    ("old", "advice"),
    [
        (lambda result: result.usage.limit, "use result.tokens, result.limit"),
        (lambda result: holdfast.report(result, format="text"), "write form="),
        (lambda _: holdfast.Session("t").report(format="text"), "write form="),
        (lambda _: holdfast.recall_tool("memory://", format="openai"), "write provider="),
        (lambda _: holdfast.forget("t", store="memory://"), "use holdfast.delete_summaries"),
    ],
)
def test_an_old_name_works_and_warns_with_the_new_one(result, old, advice):
    with pytest.warns(DeprecationWarning, match=advice) as told:
        assert old(result) is not None
    assert told[0].filename == __file__


def test_the_file_of_a_result_keeps_its_names(result):
    assert {"usage", "metrics", "model_usage"} <= json.loads(result.to_json()).keys()
