"""Plain functions that a model may call."""

import asyncio
import json
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Literal

import pytest

import holdfast


@dataclass
class Place:
    city: str
    country: str = "Portugal"


@holdfast.tool
def forecast(place: Place, days: Annotated[int, "how many, 1 to 7"] = 3) -> dict:
    """The weather of the next days."""
    return {"city": place.city, "country": place.country, "days": days}


def test_the_schema_is_made_of_the_name_the_docstring_and_the_annotations():
    function = forecast.schema["function"]
    assert forecast.schema["type"] == "function"
    assert (function["name"], function["description"]) == (
        "forecast",
        "The weather of the next days.",
    )
    parameters = function["parameters"]
    assert parameters["properties"]["days"] == {
        "type": "integer",
        "description": "how many, 1 to 7",
        "default": 3,
    }
    assert parameters["required"] == ["place"]
    assert parameters["$defs"]["Place"]["required"] == ["city"]
    assert json.loads(json.dumps(forecast.schema)) == forecast.schema


def test_the_arguments_of_a_call_are_read_as_the_annotations_say():
    assert forecast('{"place": {"city": "Porto"}}') == {
        "city": "Porto",
        "country": "Portugal",
        "days": 3,
    }
    assert forecast({"place": {"city": "Porto"}, "days": 1})["days"] == 1


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ('{"place": {"city": 5}}', r"forecast: Expected `str`, got `int` - at `\$\.place\.city`"),
        ("{}", "forecast: Object missing required field `place`"),
        ('{"place": {"city": "x"}, "hours": 5}', "forecast: Object contains unknown field `hours`"),
        ("{", "forecast: Input data was truncated"),
    ],
)
def test_arguments_that_do_not_fit_are_told_in_one_line(arguments, problem):
    with pytest.raises(holdfast.InputError, match=problem):
        forecast(arguments)


def test_a_schema_may_have_the_form_of_another_provider():
    @holdfast.tool(provider="anthropic")
    def unit(of: Literal["km", "miles"]) -> str:
        """Which unit."""
        return of

    assert unit.schema["input_schema"]["properties"]["of"]["enum"] == ["km", "miles"]
    assert unit.function("km") == "km"
    with pytest.raises(holdfast.ConfigError, match="provider: 'telegram' has no form of tools"):
        holdfast.tool(provider="telegram")(unit.function)


@pytest.mark.parametrize("name", ["__x", "__dict__", "__slots__", "__post_init__"])
def test_an_argument_has_any_name_of_python(name):
    space: dict[str, Any] = {}
    exec(f"def told({name}: int, x: int = 1): return {name} + x", space)
    told = holdfast.tool(space["told"])
    assert list(told.schema["function"]["parameters"]["properties"]) == [name, "x"]
    assert (told({name: 5}), told(f'{{"{name}": 5, "x": 2}}')) == (6, 7)
    with pytest.raises(holdfast.InputError, match=rf"told: Expected `int`.*{name}"):
        told({name: "many"})


def test_a_function_whose_arguments_have_no_name_is_refused():
    with pytest.raises(holdfast.ConfigError, match=r"tool odd: a model cannot give '\*names'"):

        @holdfast.tool
        def odd(*names):
            """Odd."""

    with pytest.raises(holdfast.ConfigError, match="tool stranger: .*; use types that JSON has"):

        @holdfast.tool
        def stranger(of: asyncio.Event):
            """Odd."""


@pytest.mark.parametrize("thing", [lambda city: city, 3, partial(print, ""), dict])
def test_only_a_function_with_a_name_becomes_a_tool(thing):
    with pytest.raises(holdfast.ConfigError, match=r"this is not a function.*; write it with def"):
        holdfast.tool(thing)


def test_a_loop_runs_them_awaited_or_not_and_tells_the_model_of_wrong_arguments():
    @holdfast.tool
    async def later(n: int) -> int:
        """One more."""
        return n + 1

    calls = iter(['{"n": 1}', '{"n": "x"}'])

    def model(messages, tools):
        assert [tool["function"]["name"] for tool in tools] == ["later"]
        arguments = next(calls, None)
        if arguments is None:
            return {"role": "assistant", "content": "done"}
        call = {
            "id": f"call_{len(messages)}",
            "type": "function",
            "function": {"name": "later", "arguments": arguments},
        }
        return {"role": "assistant", "content": None, "tool_calls": [call]}

    with holdfast.Session("t", budget="8k") as session:
        assert holdfast.AgentLoop(model, session, [later]).run("go")["content"] == "done"
        outputs = [m["content"] for m in session.messages() if m["role"] == "tool"]
    assert outputs[0] == "2"
    assert "Expected `int`, got `str`" in outputs[1]
