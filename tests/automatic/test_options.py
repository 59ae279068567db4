"""Options are declared once, and are keywords of the functions that users call."""

import inspect
from dataclasses import fields

import pytest

from polyladder import fit_large_table, fit_table
from polyladder.automatic.options import FitOptions, LargeOptions, with_options


@pytest.mark.parametrize(("function", "kind"), [(fit_table, FitOptions), (fit_large_table, LargeOptions)])
def test_signatures_show_every_option_with_its_default(function, kind) -> None:
    first, second, *others = inspect.signature(function).parameters.values()
    assert second.name == "target"
    assert first.default is second.default is inspect.Parameter.empty
    assert {p.name: p.default for p in others} == {f.name: f.default for f in fields(kind)}
    assert all(p.kind is inspect.Parameter.KEYWORD_ONLY for p in others)


@pytest.mark.parametrize(("function", "kind"), [(fit_table, FitOptions), (fit_large_table, LargeOptions)])
def test_every_option_is_explained(function, kind) -> None:
    told = inspect.getdoc(function)
    assert all(field.name in told.replace(",", " ").split() for field in fields(kind))


def test_keywords_become_one_value() -> None:
    @with_options(FitOptions)
    def given(table, target, options):
        return table, target, options

    assert given("t", "y", seed=3) == ("t", "y", FitOptions(seed=3))
    assert given("t", target="y") == ("t", "y", FitOptions())
    assert given(target="y", table="t", drop=["a"]) == ("t", "y", FitOptions(drop=["a"]))
    with pytest.raises(TypeError, match="unexpected keyword argument 'sede'"):
        given("t", "y", sede=3)
    with pytest.raises(TypeError, match="too many positional arguments"):
        given("t", "y", "regression")
    with pytest.raises(TypeError, match="missing a required argument: 'target'"):
        given("t")
