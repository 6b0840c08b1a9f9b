"""The state of a thread has one owner."""

from __future__ import annotations

import ast
from pathlib import Path

import holdfast
from holdfast.session import Session
from holdfast.session.state import State

PACKAGE = Path(holdfast.__file__).parent
CHANGING = {
    "append",
    "add",
    "clear",
    "extend",
    "insert",
    "pop",
    "remove",
    "update",
    "setdefault",
    "discard",
}


def of_a_state(node: ast.expr) -> bool:
    """Whether this is a field of something called state, or a part of one."""
    while isinstance(node, ast.Subscript):
        node = node.value
    if not isinstance(node, ast.Attribute):
        return False
    owner = node.value
    return (owner.attr if isinstance(owner, ast.Attribute) else getattr(owner, "id", "")) == "state"


def changes(tree: ast.Module) -> list[int]:
    """The lines that change a state."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            targets = node.targets
        elif isinstance(node, ast.AugAssign | ast.AnnAssign):
            targets = [node.target]
        elif isinstance(node, ast.Delete):
            targets = node.targets
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in CHANGING
        ):
            targets = [node.func.value]
        else:
            continue
        flat = [each for target in targets for each in getattr(target, "elts", [target])]
        found += [node.lineno for target in flat if of_a_state(target)]
    return found


def test_what_would_change_a_state_is_seen():
    told = (
        "state.a = 1\nx.state.a[1] = 2\nx.state.a.append(3)\nb, state.a = 1, 2\nstate = 4\n"
        "x.state.fold(5)\n"
    )
    assert sorted(changes(ast.parse(told))) == [1, 2, 3, 4]


def test_the_state_of_a_thread_is_changed_in_its_module_alone():
    modules = [path for path in (PACKAGE / "session").glob("*.py") if path.name != "state.py"]
    found = {path.name: changes(ast.parse(path.read_text("utf-8"))) for path in modules}
    assert {name: lines for name, lines in found.items() if lines} == {}


def test_a_session_is_one_class_in_a_small_package():
    assert len(Session.__mro__) <= 3
    assert len(list((PACKAGE / "session").glob("*.py"))) <= 14


def test_a_state_stays_small_however_many_messages_are_found():
    state = State()
    for _ in range(2):
        state.record_found(range(3_000))
    found = state.take_found()
    assert list(found) == list(range(2_000, 3_000))
