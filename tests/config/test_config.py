"""One file says what options say: TOML and YAML alike, found, extended, overridden, refused by
line.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import holdfast
from holdfast import CallLimits, ConfigError, load_config
from holdfast.cli import main
from holdfast.cost import Costs, Price
from holdfast.memory.tiers import TierSizes
from holdfast.profiles import load_profile
from tests.talks import agent_run

TOML = """\
extends = "four_step"
model = "gpt-4o"
counter = "cl100k_base"
redact = true
llm = "extractive"
on_failure = "degrade"
vectors = false

[budget]
limit = 900
reserve = 100

[limits]
timeout = 5
retries = 0

[cache]
summaries = 7

[tiers]
hot = 1_000

[steps.digest]
keep_blocks = 3

[steps]
squeeze = false
"""

YAML = """\
extends: four_step
model: gpt-4o
counter: cl100k_base
redact: true
llm: extractive
on_failure: degrade
vectors: false
budget: {limit: 900, reserve: 100}
limits:
  timeout: 5
  retries: 0
cache:
  summaries: 7
tiers:
  hot: 1000
steps:
  digest:
    keep_blocks: 3
  squeeze: false
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """An empty directory, in which the tests run."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def toml(folder):
    (folder / "holdfast.toml").write_text(TOML)
    return load_config(environ={})


def refusal(text, name="holdfast.toml", **variables):
    with pytest.raises(ConfigError) as caught:
        holdfast_file(text, name)
        load_config(environ=variables)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def holdfast_file(text, name="holdfast.toml"):
    Path(name).write_text(text)


def test_every_option_of_a_file_reaches_the_compression(toml):
    assert toml.budget == holdfast.Budget(limit=900, reserve=100)
    assert toml.options["limits"] == CallLimits(timeout=5, retries=0)
    assert toml.options["cache"].statistics().summaries.capacity == 7
    assert {k: v for k, v in toml.options.items() if isinstance(v, str | bool)} == {
        "model": "gpt-4o",
        "counter": "cl100k_base",
        "redact": True,
        "llm": "extractive",
        "on_failure": "degrade",
    }
    result = holdfast.compress(agent_run(9), toml.budget, **toml.options)
    assert (result.limit, result.counter) == (int(800 * 0.92), "cl100k_base")
    assert result.strategy_name == "four_step"


def test_the_steps_of_what_is_extended_are_changed_by_name_or_left_out(toml):
    steps = toml.profile.steps
    assert [step.name for step in steps] == [
        "ToolDeterministicCompaction",
        "HistoryCompression",
        "FinalTokenTrim",
    ]
    usual = load_profile("four_step").steps[1]
    assert steps[1] == replace(usual, strategy=replace(usual.strategy, keep_blocks=3))


def test_a_session_takes_what_it_knows_of_the_file(toml):
    with holdfast.Session("t", **toml.session) as session:
        session.append(*agent_run(4))
        assert session.limit == 800
        assert session.stats().tiers["hot"].capacity == 1_000
    assert toml.session["tiers"] == TierSizes(hot=1_000)
    assert toml.session["vectors"] is False


def test_yaml_says_the_same_as_toml(toml, folder):
    (folder / "holdfast.toml").unlink()
    (folder / "holdfast.yaml").write_text(YAML)
    yaml = load_config(environ={})
    plain = {"limits", "profile", "model", "counter", "redact", "llm", "on_failure"}
    for name in plain:
        assert yaml.options[name] == toml.options[name], name
    assert yaml.budget == toml.budget
    talk = agent_run(9)
    by_yaml = holdfast.compress(talk, yaml.budget, **yaml.options)
    assert by_yaml.messages == holdfast.compress(talk, toml.budget, **toml.options).messages


def test_pyproject_and_files_further_up_are_found_the_nearest_first(folder, monkeypatch):
    (folder / "pyproject.toml").write_text('[project]\nname = "x"\n[tool.holdfast]\nbudget = 70\n')
    (folder / "deep").mkdir()
    monkeypatch.chdir(folder / "deep")
    assert load_config(environ={}).budget.limit == 70
    (folder / "deep" / "holdfast.toml").write_text("budget = 60")
    assert load_config(environ={}).budget.limit == 60
    assert load_config(folder / "pyproject.toml", environ={}).budget.limit == 70


def test_where_nothing_is_said_the_default_profile_holds_and_no_option():
    config = load_config(environ={})
    assert (config.options, config.session, config.files) == ({}, {}, ())
    assert config.profile == load_profile("balanced")


def test_the_environment_stands_over_the_file_and_may_name_it(folder):
    (folder / "team.toml").write_text('budget = 500\nmodel = "gpt-4o"\n[limits]\nretries = 1\n')
    config = load_config(
        environ={
            "HOLDFAST_CONFIG": "team.toml",
            "HOLDFAST_LIMITS__TIMEOUT": "9.5",
            "HOLDFAST_MODEL": "5",
            "HOLDFAST_BUDGET": "8k",
            "HOLDFAST_PROFILE": "fast",
            "HOLDFAST_STEPS__TRIM__KEEP_RECENT": "2",
            "HOLDFAST_EXAMPLES": "of another program",
        }
    )
    assert config.options["limits"] == CallLimits(timeout=9.5, retries=1)
    assert (config.options["model"], config.profile.name) == ("5", "fast")
    assert (config.profile.steps[-1].keep_recent, config.budget.limit) == (2, 8_000)
    assert config.settings["limits.timeout"].origin == "HOLDFAST_LIMITS__TIMEOUT"
    assert config.settings["limits.retries"].origin == "team.toml:4"


def test_a_file_may_extend_a_file_beside_it(folder):
    (folder / "shared").mkdir()
    (folder / "shared" / "team.yaml").write_text("extends: fast\nbudget: {limit: 500, reserve: 9}")
    (folder / "holdfast.toml").write_text('extends = "shared/team.yaml"\nbudget = 400\n')
    config = load_config(environ={})
    assert config.budget == holdfast.Budget(limit=400, reserve=9)
    assert config.profile.name == "fast"
    assert config.settings["budget.reserve"].origin == "shared/team.yaml:2"


def test_steps_of_ones_own_stand_in_the_place_of_the_profile(folder):
    (folder / "holdfast.toml").write_text('[[steps]]\nstrategy = "trim"\nkeep_recent = 2\n')
    result = holdfast.compress(agent_run(9), 300, **load_config(environ={}).options)
    assert (result.strategy_name, [step.name for step in result.steps]) == ("holdfast", ["trim"])


def test_a_profile_file_may_extend_a_profile(folder):
    (folder / "mine.toml").write_text(
        'name = "mine"\nextends = "four_step"\n[steps.digest]\nkeep_blocks = 2\n'
    )
    mine = load_profile("mine.toml")
    assert (mine.name, mine.headroom) == ("mine", load_profile("four_step").headroom)
    assert mine.steps[1].strategy.keep_blocks == 2
    assert holdfast.compress(agent_run(9), 300, profile="mine.toml").strategy_name == "mine"


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ("\nmodell = 'gpt-4o'", "holdfast.toml:2: modell: there is no such "
            "key; did you mean 'model'?"),
        (
            "# limits\n[limits]\ntimeot = 3",
            "holdfast.toml:3: limits.timeot: there is no such key; did you mean 'timeout'?",
        ),
        (
            'extends = "four_step"\n\n[steps.digest]\nkeep_block = 3',
            "holdfast.toml:4: steps.digest.keep_block: there is no such key; did you "
                "mean 'keep_blocks'?",
        ),
        (
            'extends = "four_step"\n[steps.digst]\nkeep_blocks = 3',
            "holdfast.toml:2: steps.digst: there is no such step; did you mean 'digest'?",
        ),
        ('extends = "for_step"', "holdfast.toml:1: extends: there is no profile "
            "named 'for_step'; did you"),
        ('extends = "gone.toml"', "holdfast.toml:1: extends: gone.toml: it cannot be read"),
        ('extends = "holdfast.toml"', "holdfast.toml:1: extends: 'holdfast.toml' extends itself"),
        ('extends = "fast"\nprofile = "fast"', "say the same; give one"),
        ("limits = 3", "holdfast.toml:1: limits: 3 is not a table; write [limits]"),
        ("[limits]\ntimeout = 'long'", "holdfast.toml:2: limits.timeout: 'long' does not "
            "belong here; give a number"),
        ("[limits]\nretries = -1", "holdfast.toml:2: limits.retries: -1 does not "
            "belong here; give a whole number of 0 or more"),
        ("budget = -5", "holdfast.toml:1: budget.limit: -5 does not belong here; "
            "give a positive number of tokens, such as 8000"),
        ("redact = 'yes'", "holdfast.toml:1: redact: 'yes' does not "
            "belong here; give true or false"),
        ("on_failure = 'ignore'", "holdfast.toml:1: on_failure: 'ignore' does not belong here; "
            "give 'degrade' or 'fit' or 'raise'"),
        ("llm = 'nobody:x'", "holdfast.toml:1: llm: 'nobody:x' names no model vendor"),
        ("counter = 'o200k_bas'", "holdfast.toml:1: counter: there is no"),
        ("strategy = 'trim'\nprofile = 'fast'", "holdfast.toml:1: strategy: a profile "
            "and strategies exclude"),
        ("budget = '8q'", "holdfast.toml:1: budget: '8q' is not a positive number of tokens"),
        ("strategy = ['trimm']", "holdfast.toml:1: strategy: there is no "
            "strategy named 'trimm'; did"),
        ("clock = 3", "holdfast.toml:1: clock: there is no such key"),
        ("segmentation = 'pages'", "holdfast.toml:1: segmentation: 'pages' does not belong "
            "here; give 'turns' or 'time' or 'entities'"),
        ("\nrecall_score = 3.5", "holdfast.toml:2: recall_score: 3.5 does not belong here; "
            "give a share in [0, 1]"),
        ("recall_messages = -1", "holdfast.toml:1: recall_messages: -1 does not belong here; "
            "give a whole number of 1 or more"),
        ("store = 'sqlit:///a.db'", "holdfast.toml:1: store: there is no store named 'sqlit'; "
            "did you mean 'sqlite'?"),
        ("store = 'memory://x?artifacts=ftp://y'", "holdfast.toml:1: store: there is no store"),
        ("store = 'a.db'", "holdfast.toml:1: store: 'a.db' is not a URL"),
        ("strategy = 5", "holdfast.toml:1: strategy: 5 is not a strategy; give"),
        ("tools = 5", "holdfast.toml:1: tools: an int does not belong here; give the list"),
        ("tools = ['a']", "holdfast.toml:1: tools[0]: a str does not belong here; give the list"),
        ("pin = 'all'", "holdfast.toml:1: pin: 'all' is not a list of positions; give"),
        ("[budget]\nwindow = 100\nreserve = 200", "holdfast.toml:1: budget: reserve and "
            "headroom leave nothing of 100 tokens; lower"),
        ("[tiers]\nhot = 9\ntrigger = 1.5", "holdfast.toml:3: tiers.trigger: 1.5 does not "
            "belong here; give a share in [0, 1]"),
        ("[relevance]\nforgetting = -1", "holdfast.toml:2: relevance.forgetting: -1 does not "
            "belong here; give a number of 0 or more"),
        ("[costs]\nprice = 4", "holdfast.toml:2: costs.price: 4 is not a table; write "
            "[costs.price]"),
        ("[costs.price]\noutput = 4", "holdfast.toml:1: costs.price: it has no input; add"),
        ("[costs.price]\ninput = -4", "holdfast.toml:2: costs.price.input: -4 does not "
            "belong here; give a number of 0 or more"),
        ("budget = ", "holdfast.toml: this is not TOML (Invalid value (at end of document))"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_with_file_line_and_the_nearest_key(text, refused):
    assert refused in refusal(text)


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ("model: gpt-4o\nlimits:\n  timeot: 3", "holdfast.yaml:3: limits.timeot: there "
            "is no such key; did you"),
        ("model: a\nmodel: b", "holdfast.yaml: line 2: the key 'model' appears twice; keep one"),
        ("yes: 1", "holdfast.yaml: line 1: the key 'yes' is not text; write it in quotes"),
        ("[1, 2]", "holdfast.yaml: there are no keys in it; write key: value"),
        ("model: [", "holdfast.yaml: line 1: this is not YAML ("),
        ("a: &a\n  b: *a", "holdfast.yaml: line 1: this is not YAML (found unconstructable "
            "recursive node)"),
        ("llm: x:y\nsegmentation: pages", "holdfast.yaml:1: llm: 'x:y' names no model vendor"),
        ("steps:\n- strategy: trim\n- strategy: trimm", "holdfast.yaml:3: steps[1].strategy: "
            "there is no strategy"),
    ],
)  # fmt: skip
def test_yaml_is_read_as_strictly(text, refused):
    assert refusal(text, "holdfast.yaml").startswith(refused)


@pytest.mark.parametrize(
    ("variable", "value", "refused"),
    [
        ("HOLDFAST_SEGMENTATION", "pages", "segmentation: 'pages' does not belong here"),
        ("HOLDFAST_STORE", "sqlit:///a.db", "store: there is no store named 'sqlit'"),
        ("HOLDFAST_RECALL_SCORE", "2", "recall_score: 2 does not belong here"),
    ],
)
def test_a_wrong_value_of_a_variable_is_named_with_it(variable, value, refused):
    with pytest.raises(ConfigError) as caught:
        load_config(environ={variable: value})
    assert str(caught.value).startswith(f"{variable}: {refused}")


@pytest.mark.parametrize("turn", [1, -1])
def test_a_table_and_a_key_of_it_are_not_both_set_by_variables(turn):
    said = {"HOLDFAST_BUDGET": "8k", "HOLDFAST_BUDGET__RESERVE": "500"}
    with pytest.raises(ConfigError) as caught:
        load_config(environ=dict(list(said.items())[::turn]))
    assert str(caught.value) == (
        "HOLDFAST_BUDGET__RESERVE: another variable sets budget; "
        "give each of its keys a variable, such as HOLDFAST_BUDGET__LIMIT"
    )


def test_a_mistake_in_a_file_that_is_extended_is_named_there(folder):
    (folder / "base.toml").write_text('model = "gpt-4o"\nsegmentatio = "time"')
    assert refusal('extends = "base.toml"').startswith(
        "base.toml:2: segmentatio: there is no such key; did you mean 'segmentation'?"
    )


def test_a_file_of_options_alone_may_be_extended_and_leaves_the_default_profile(folder):
    (folder / "base.toml").write_text('budget = 800\nmodel = "gpt-4o"\n[steps.trim]\nclamp = false')
    holdfast_file('extends = "base.toml"\nredact = true')
    config = load_config(environ={})
    assert (config.budget.limit, config.options["model"]) == (800, "gpt-4o")
    usual = load_profile("balanced")
    assert (config.profile.name, config.profile.redact) == ("balanced", True)
    assert config.profile.steps == (*usual.steps[:-1], replace(usual.steps[-1], clamp=False))


def test_a_table_with_a_strategy_replaces_the_step(folder):
    holdfast_file('extends = "four_step"\n[steps.digest]\nstrategy = "prune"\nby = "message"')
    steps = load_config(environ={}).profile.steps
    assert [step.name for step in steps][:2] == ["ToolDeterministicCompaction", "prune"]
    assert steps[1].by == "message"


def test_a_price_is_a_table_of_the_costs():
    holdfast_file("[costs]\ncalls = 3\n[costs.price]\ninput = 3\ncache_read = 0.3")
    price = Price(3, cache_read=0.3)
    assert load_config(environ={}).options["costs"] == Costs(price, calls=3)


@pytest.mark.parametrize(
    "text",
    [
        "[tool]\nholdfast = {budget = 300}",
        "tool.holdfast.budget = 300",
        "[ tool . holdfast ]\nbudget = 300",
    ],
)
def test_every_way_to_write_the_table_of_a_pyproject_is_found(folder, text):
    (folder / "pyproject.toml").write_text(text)
    assert load_config(environ={}).budget.limit == 300


def test_what_is_no_table_in_a_pyproject_is_refused_by_line():
    assert refusal("[tool]\nholdfast = 5", "pyproject.toml") == (
        "pyproject.toml:2: tool.holdfast: 5 is not a table; write [tool.holdfast]"
    )


def test_a_variable_that_is_nearly_a_key_is_refused():
    told = refusal("budget = 9", HOLDFAST_MODLE="gpt-4o")
    assert told.startswith("HOLDFAST_MODLE: there is no such key; did you mean 'HOLDFAST_MODEL'?")


def ran(capsys, *arguments):
    code = main(arguments)
    return code, capsys.readouterr()


def test_the_commands_take_what_the_file_says_and_their_arguments_win(folder, capsys, monkeypatch):
    (folder / "chat.json").write_text(json.dumps(agent_run(9)))
    (folder / "holdfast.toml").write_text('profile = "fast"\n[budget]\nlimit = 400\nreserve = 50\n')
    code, said = ran(capsys, "compress", "chat.json", "--json", "-o", "out.json")
    told = json.loads(said.out)
    assert (code, told["strategy"], told["usage"]["limit"]) == (0, "fast", 350)
    said = ran(
        capsys,
        "compress",
        "chat.json",
        "-b",
        "500",
        "--profile",
        "balanced",
        "--json",
        "-o",
        "out.json",
    )[1]
    told = json.loads(said.out)
    assert (told["strategy"], told["usage"]["limit"]) == ("balanced", 450)
    said = ran(capsys, "compress", "chat.json", "--strategy", "trim", "--json", "-o", "out.json")[1]
    assert json.loads(said.out)["strategy"] == "trim"
    (folder / "other.toml").write_text("budget = 300\nmodel = 'gpt-4'")
    said = ran(
        capsys, "compress", "chat.json", "--config", "other.toml", "--json", "-o", "out.json"
    )[1]
    assert json.loads(said.out)["usage"]["limit"] == 300
    monkeypatch.setenv("HOLDFAST_COUNTER", "words")
    assert json.loads(ran(capsys, "count", "chat.json", "--json")[1].out)["counter"] == "words"


def test_a_session_of_the_terminal_takes_its_store_thread_and_budget_from_the_file(folder, capsys):
    (folder / "chat.json").write_text(json.dumps(agent_run(30)))
    (folder / "holdfast.toml").write_text('store = "sqlite:///a.db"\nthread = "t1"\nbudget = 400\n')
    assert ran(capsys, "session", "append", "chat.json")[0] == 0
    code, said = ran(capsys, "session", "fit", "--json")
    assert (code, json.loads(said.out)["usage"]["limit"]) == (0, 400)
    assert (folder / "a.db").exists()


def test_config_show_tells_what_holds_and_from_where(folder, capsys):
    (folder / "holdfast.toml").write_text(
        'extends = "four_step"\nsecret = "s3cret"\nstore = "postgresql://me:pass@db/x"\n'
        "[steps.digest]\nkeep_blocks = 3\n"
    )
    code, said = ran(capsys, "config", "show")
    rows = {line.split()[0]: line for line in said.out.splitlines()}
    assert code == 0
    assert rows["steps.HistoryCompression.keep_blocks"].split()[1:] == ["3", "holdfast.toml:5"]
    assert rows["headroom"].endswith("profile four_step:3")
    assert "s3cret" not in said.out
    assert ":pass@" not in said.out
    told = json.loads(ran(capsys, "config", "show", "--json")[1].out)
    assert told["settings"]["extends"] == {"value": "four_step", "origin": "holdfast.toml:1"}
    assert told["steps"][1]["keep_blocks"] == 3


@pytest.mark.parametrize(
    ("place", "shown"),
    [
        ("redis://me:pa:ss@word@db/0", "redis://me:(hidden)@db/0"),
        ("postgresql://db/x?password=pass&a=b", "postgresql://db/x?password=(hidden)&a=b"),
        ("postgresql://me@db/x?tenant=t", "postgresql://me@db/x?tenant=t"),
    ],
)
def test_config_show_hides_the_whole_password_of_a_store(folder, capsys, place, shown):
    (folder / "holdfast.toml").write_text(f'store = "{place}"')
    assert f" {shown} " in ran(capsys, "config", "show")[1].out


def test_a_mistake_in_the_file_is_one_line_of_the_command(folder, capsys):
    (folder / "chat.json").write_text("[]")
    (folder / "holdfast.toml").write_text("budgt = 400")
    code, said = ran(capsys, "count", "chat.json")
    assert code == 2
    assert said.err.startswith(
        "holdfast: holdfast.toml:1: budgt: there is no such key; did you mean 'budget'?"
    )


@pytest.mark.parametrize(
    "tools", ['"schemas.json"', '[{name = "ls", input_schema = {type = "object"}}]']
)
def test_schemas_stand_in_the_file_or_in_one_of_their_own(folder, tools):
    schemas = [{"name": "ls", "input_schema": {"type": "object"}}]
    (folder / "schemas.json").write_text(json.dumps({"tools": schemas}))
    (folder / "holdfast.toml").write_text(f"tools = {tools}")
    assert load_config(environ={}).options["tools"] == schemas


def test_the_file_of_schemas_is_read_once(folder, monkeypatch):
    schemas = [{"name": "ls", "input_schema": {"type": "object"}}]
    (folder / "schemas.json").write_text(json.dumps(schemas))
    (folder / "holdfast.toml").write_text('tools = "schemas.json"')
    config = load_config(environ={})
    (folder / "below").mkdir()
    monkeypatch.chdir(folder / "below")
    assert config.options["tools"] == schemas


def test_a_file_of_another_form_is_told_the_known_endings(folder):
    (folder / "holdfast.ini").write_text("budget = 400")
    problem = r"no form of a configuration file named '\.ini'; known are \.toml, \.yaml, \.yml"
    with pytest.raises(ConfigError, match=problem):
        load_config("holdfast.ini", environ={})
