import re
import subprocess
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import numpy as np
import pytest
import torch

from polyladder import LadderPolynomial
from polyladder.convert.source.rust import number, rust_source
from polyladder.fitted.answers import Draws
from polyladder.fitted.column import Column
from polyladder.fitted.model import FittedModel, fitted_model, ladder_model
from polyladder.fitted.plan import Feature
from polyladder.fitted.steps import Quantile
from polyladder.fitted.steps.step import Step
from polyladder.tables.columns import ColumnKind
from tests.convert.exported.test_parts import mixed_model
from tests.convert.source.rustc import ask, program, rustc
from tests.export import cells
from tests.export.estimators import NAMES, QUICK, case, error, fitted
from tests.ladders import random_ladder

ROWS = 2000
OTHERS = tuple(name for name in (*NAMES, "selected", "selected intervals") if name not in QUICK)


@pytest.mark.parametrize("names", [QUICK, pytest.param(OTHERS, marks=pytest.mark.slow)], ids=["quick", "others"])
def test_agrees_with_predict(names, tmp_path):
    cases = [case(name) for name in names]
    binary = program([rust_source(fitted_model(model)) for model, *_ in cases], tmp_path, "-Copt-level=1")
    found = ask(binary, [rows[:ROWS].to_numpy(dtype=object).tolist() for _, rows, _ in cases])
    wrong = {name: error(got, answers[:ROWS]) for name, got, (_, _, answers) in zip(names, found, cases, strict=True)}
    assert {name: e for name, e in wrong.items() if not e < 1e-12} == {}


def test_sums_of_units_are_dot_products_and_polynomials_of_them(tmp_path):
    models, x = [mixed_model(True), mixed_model(False)], np.random.default_rng(0).normal(size=(40, 5))
    found = ask(program(list(map(rust_source, models)), tmp_path), [x.tolist()] * 2)
    for model, got in zip(models, found, strict=True):
        assert error(got, model.ladders(torch.tensor(x)).mean(0).numpy()) < 1e-12


STYLED = ("price", "share", "weight", "sold")
"""Numbers with marks or units, and a date that is not ISO 8601: a row has them as numbers."""


@pytest.mark.slow
def test_cells_are_read_as_predict_reads_them(tmp_path):
    names = ("small", "default")
    binary = program([rust_source(fitted_model(cells.models()[name])) for name in names], tmp_path)
    frame = cells.rows()
    ready = [cells.as_numbers(frame, name) for name in names]
    mixed = [frame.with_columns(numbers[c] for c in STYLED) for numbers in ready]
    for tables in (ready, mixed):
        for name, found in zip(names, ask(binary, [table.rows() for table in tables]), strict=True):
            assert cells.error(found, cells.predicted(name)) < 1e-12
    base = dict(zip(frame.columns, mixed[0].row(0), strict=True))
    wrong = [*((c, cells.BASE[c]) for c in STYLED), *cells.REFUSED, ("age", float("inf")), ("sex", 3.0)]
    (said,) = ask(binary, [[(base | {column: cell}).values() for column, cell in wrong]])
    assert said[0] == 'Column "price" must hold a number ($1,234.5 is 1234.5); got "$2,000.00".'
    for (column, cell), sentence in zip(wrong, said, strict=True):
        assert isinstance(sentence, str), (column, cell, sentence)
        assert re.fullmatch(f'Column "{column}" must hold .*; got .*\\.', sentence)


DAYS = [
    *("1970-01-01", "1969-12-31", "2000-02-29", "1900-02-28", "1900-03-01", "2024-12-31", "1000-01-01", "9999-12-31"),
    *("2021-03-04 10:30", "2021-03-04T10:30:59", "2021-03-04T23:59:59.999999", "1960-03-04 10:30:00.5"),
    *("2021-03-04T10:30Z", "2021-03-04T10:30:00+02:00", "2021-03-04 10:30-0500"),
]
NO_DAYS = [
    *("1900-02-29", "2021-04-31", "0999-01-01", "2021-00-01", "2021-01-00", "2021-1-1", "2021-03-04T", "2021-03-04é"),
    *("+021-03-04", "2021-03-04-05", "2021-03-04 10:60", "2021-03-04 10:30:60", "2021-03-04 24:00"),
    *("2021-03-04 10:30é", "2021-03-04 1:30", "2021-03-04 10:30:00.", "2021-03-04 10:30+1"),
    *("2021-03-04 10:30:00:00", "2021-03-04 10:30+0é00"),
]


def test_dates(tmp_path):
    column = Column("day", "number", cells=ColumnKind("day", "date"))
    ladder = ladder_model(identity())
    binary = program([rust_source(replace(ladder, columns=(column,)))], tmp_path)
    (found,) = ask(binary, [[[day] for day in [*DAYS, *NO_DAYS]]])
    plain = [datetime.fromisoformat(day).replace(tzinfo=None) for day in DAYS]
    expected = [[(day - datetime(1970, 1, 1)) / timedelta(days=1)] for day in plain]
    np.testing.assert_allclose(found[: len(DAYS)], expected, rtol=1e-15)
    assert [day for day, said in zip(NO_DAYS, found[len(DAYS) :], strict=True) if not isinstance(said, str)] == []


def identity():
    """z itself."""
    return LadderPolynomial((), (), (), (), torch.ones(1, 1, dtype=torch.float64), torch.zeros(1, dtype=torch.float64))


def draws(guard):
    """A posterior of five draws; with the slopes of its noise in the second case."""
    p = random_ladder(d=2, hidden=(3,), m=1, batch_shape=(5,))
    slopes = np.random.default_rng(1).normal(size=(5, 1, 0 if guard is None else 4))
    answer = Draws(guard, np.linspace(0.3, 0.7, 5).reshape(5, 1), np.full((5, 1), np.inf), slopes)
    columns = tuple(Column(n, "number", inputs=(i,), main=i) for i, n in enumerate("ab"))
    return FittedModel(columns, (Feature(0, ()), Feature(1, ())), p, answer)


def test_median_and_deviation_over_believed_draws(tmp_path):
    """Also where no draw lies in the guard's range: then all count, held to it."""
    models = [draws(guard) for guard in (None, ((-1e9,), (-1e8,)), ((-0.5,), (0.8,)))]
    x = np.random.default_rng(0).normal(size=(50, 2))
    found = ask(program(list(map(rust_source, models)), tmp_path), [x.tolist()] * 3)
    for model, got in zip(models, found, strict=True):
        said = model.distribution(x)
        deviation = (said.weights_covariance()[..., 0] + said.noise_variance()).sqrt()
        for k, expected in enumerate((said.median(), deviation)):
            assert error(np.array(got)[:, k : k + 1], expected.numpy()) < 1e-12


@dataclass(frozen=True)
class Wave(Step):
    """A step that no language knows."""

    def written(self, x, language):
        return language.sine(language.times(language.number(2.0), language.minus(x, language.number(-1.0))))


LEVELS = Quantile(*[(0.0, 1.0)] * 4)


def test_new_steps_hostile_names_and_rows_that_have_no_answer(tmp_path):
    names = ['a*/ "quote" \\ \n', "{} {x:?}", "é漢🙂\u202e", "//\r\u2028", "\\u{41}", "\0"]
    ladder = random_ladder(d=len(names), hidden=(2, 2), m=1)
    plain = ladder_model(ladder, names)
    waves = replace(plain, steps=tuple(replace(feature, steps=(Wave(),)) for feature in plain.steps))
    unfilled = replace(plain, steps=tuple(replace(feature, steps=(LEVELS,)) for feature in plain.steps))
    binary = program(list(map(rust_source, (plain, waves, unfilled))), tmp_path)
    x = np.linspace(-1, 1, 4 * len(names)).reshape(4, -1)
    bad = [[*x[0, :-1], None], [None, *x[0, 1:]], x[0, 1:], [1e200] * len(names)]
    (*good, last, first, short, far), found, (gone,) = ask(binary, [[*x.tolist(), *bad], x.tolist(), bad[:1]])
    assert error(good, ladder(torch.tensor(x)).numpy()) < 1e-12
    assert error(found, ladder(torch.sin(2 * (torch.tensor(x) + 1))).numpy()) < 1e-12
    assert last == 'Column "\\0" must hold a number; it is missing.' == gone
    assert first.startswith('Column "a*/ \\"quote\\" \\\\ \\n" must hold')
    assert short == "A row must have 6 cells; got 5."
    assert far.startswith("The row must lie nearer to the training range")


USER = """
use ladder::{class, predict, Cell, ANSWERS, COLUMNS, LABELS};

fn main() {
    println!("{COLUMNS:?} {ANSWERS:?} {LABELS:?}");
    for line in std::io::stdin().lines() {
        let row: Vec<Cell> = line.as_ref().unwrap().split(' ').map(Cell::from).collect();
        println!("{}", class(&predict(&row).unwrap()));
    }
}
"""


def test_a_crate_of_its_own_says_the_best_class(tmp_path):
    model, rows = fitted("three classes")
    rust_source(fitted_model(model)).write(tmp_path / "ladder.rs")
    (tmp_path / "user.rs").write_text(USER)
    alone = ["--crate-type=lib", "-Dwarnings", "ladder.rs"]
    for arguments in (alone, ["--edition=2021", "--extern=ladder=libladder.rlib", "user.rs"]):
        made = subprocess.run([rustc(), *arguments], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert made.returncode == 0, made.stderr
    asked = "\n".join(" ".join(map(repr, row)) for row in rows[:300].to_numpy().tolist())
    done = subprocess.run([tmp_path / "user"], input=asked, capture_output=True, text=True, check=True)
    first, *found = done.stdout.splitlines()
    assert found == model.predict(rows[:300]).tolist()
    assert first.startswith(r'["flat (m)", "often zero", "signed \"s\""] ["probability_high", ')


def test_numbers_are_written_exactly():
    p = random_ladder(d=2, hidden=(3,), m=1)
    text = str(rust_source(ladder_model(p)))
    written = {float(number) for number in re.findall(r"-?[0-9.]+(?:e[-+]?[0-9]+)?(?=[,\]])", text)}
    assert set(p.readout.flatten().tolist()) | set(p.W[0].flatten().tolist()) <= written
    assert "GUARD" not in text
    assert "ln_1p" not in text
    ends = list(map(number, (-np.inf, np.inf, np.nan)))
    assert ends == ["f64::NEG_INFINITY", "f64::INFINITY", "f64::NAN"]
