from types import SimpleNamespace
from zipfile import ZipFile

import pytest

from holdfast import ConfigError
from holdfast.kernel.registry import Registry

SHELF = Registry("shape", "shapes", "square math:sqrt\nround math:floor", "box square")


def test_a_name_stands_for_what_is_loaded_when_it_is_asked_for():
    import math

    assert SHELF.load("square") is math.sqrt
    assert SHELF.load("box") is math.sqrt


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(
        ConfigError, match="there is no shape named 'blob'; known are round, square"
    ):
        SHELF.load("blob")


@pytest.mark.parametrize(
    ("asked", "meant"), [("sqare", "square"), ("rouns", "round"), ("boxx", "box")]
)
def test_a_near_miss_is_offered(asked, meant):
    with pytest.raises(ConfigError, match=f"did you mean '{meant}'"):
        SHELF.load(asked)


def test_names_are_those_of_the_table_in_order():
    assert SHELF.names() == ["round", "square"]


def test_an_outside_package_adds_a_name_and_a_built_in_one_wins(tmp_path, monkeypatch):
    (tmp_path / "shapes_of_others.py").write_text(
        "def star(): return 'star'\nsquare = 'not this one'\n"
    )
    info = tmp_path / "shapes_of_others-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: shapes-of-others\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[holdfast.shapes]\nstar = shapes_of_others:star\nsquare = shapes_of_others:square\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert SHELF.names() == ["round", "square", "star"]
    assert SHELF.load("star")() == "star"
    assert SHELF.load("square") != "not this one"


def test_so_does_a_package_in_an_archive(tmp_path, monkeypatch):
    with ZipFile(tmp_path / "shapes.zip", "w") as archive:
        archive.writestr(
            "zipped-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: zipped\nVersion: 1.0\n"
        )
        archive.writestr(
            "zipped-1.0.dist-info/entry_points.txt", "[holdfast.shapes]\noval = zipped:oval\n"
        )
    monkeypatch.syspath_prepend(tmp_path / "shapes.zip")
    assert SHELF.names() == ["oval", "round", "square"]


def test_what_a_package_brings_to_a_group_that_nothing_reads_any_more_is_told(
    tmp_path, monkeypatch
):
    info = tmp_path / "grammars_of_others-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: grammars-of-others\nVersion: 1.0\n"
    )
    (info / "entry_points.txt").write_text("[holdfast.grammars]\nada = grammars_of_others:ada\n")
    monkeypatch.syspath_prepend(tmp_path)
    told = (
        "nothing reads 'ada' of the entry point group holdfast.grammars any more; give a "
        "shape in holdfast.shapes"
    )
    with pytest.warns(DeprecationWarning, match=told):
        assert Registry("shape", "shapes", "square math:sqrt", formerly=("grammars",)).names() == [
            "square"
        ]


def test_a_name_is_known_by_the_table_by_an_alias_or_by_an_installed_package(monkeypatch):
    registry = Registry("fruit", "fruits", "apple x:Apple", "pomme apple")
    monkeypatch.setattr(Registry, "_outside", lambda _: [SimpleNamespace(name="pear")])
    assert [name in registry for name in ("apple", "pomme", "pear", "plum")] == [
        True,
        True,
        True,
        False,
    ]
