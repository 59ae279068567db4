"""Rows of a file as a fitted model wants them."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import sparse

from polyladder import LPNNRegressor
from polyladder.automatic.card import make_card
from polyladder.automatic.fit_table import fit_table
from polyladder.automatic.model_rows import load_estimator, model_columns, model_rows
from polyladder.tables.columns import ColumnKind
from polyladder.tables.table_file import TableFile, frame_file, open_table
from tests.cli.tables import shop, small_models

DAYS = "days since 1970-01-01"
TINY: dict[str, Any] = {"order": 2, "width": 2, "n_estimators": 1, "max_iter": 1, "random_state": 0}


def frame(n: int = 20) -> pl.DataFrame:
    rng = np.random.default_rng(0)
    return pl.DataFrame({"a": rng.normal(size=n), "kind": rng.choice(["p", "q"], n), "day": np.arange(n) + 20_000.0})


def of_frame() -> LPNNRegressor:
    model = LPNNRegressor(**TINY).fit(frame(), frame()["a"].to_numpy())
    model.card_ = make_card(model, frame(), target="y")
    model.card_["columns"][2]["unit"], model.card_["columns"][2]["date_format"] = DAYS, "%d.%m.%Y"
    return model


def of_array() -> LPNNRegressor:
    X = np.random.default_rng(0).normal(size=(20, 2))
    return LPNNRegressor(**TINY).fit(X, X[:, 0])


def opened(tmp_path: Path, text: str) -> TableFile:
    (tmp_path / "t.csv").write_text(text)
    return open_table(tmp_path / "t.csv")


def test_the_columns_of_a_model_are_numbers_categories_and_dates() -> None:
    kinds = (ColumnKind("a", "number"), ColumnKind("kind", "category"), ColumnKind("day", "date", "%d.%m.%Y"))
    assert tuple(column.reading for column in model_columns(of_frame())) == kinds
    assert [column.reading for column in model_columns(of_array())] == [
        ColumnKind("x0", "number"),
        ColumnKind("x1", "number"),
    ]
    X = sparse.csr_matrix(np.eye(5)[:, :3] + 1)
    thin = LPNNRegressor(**TINY, solver="adam").fit(X, np.arange(5.0))
    assert [column.reading for column in model_columns(thin)] == [ColumnKind(f"x{i}", "number") for i in range(3)]


def test_columns_know_their_range_in_training() -> None:
    number, category, day = (column.reading for column in model_columns(of_frame()))
    assert number.span == (frame()["a"].min(), frame()["a"].median(), frame()["a"].max())
    assert category.span is None
    assert day.span == (20_000.0, 20_009.5, 20_019.0)


def test_what_is_converted_is_said_as_a_warning(tmp_path: Path) -> None:
    model = of_frame()
    model.card_["columns"][0]["written"] = {"kind": "number", "style": {"suffix": " kg"}}
    file = opened(tmp_path, "day,kind,a\n04.10.2024,p,11.2 lb\n05.10.2024,q,1 lb\n")
    with pytest.warns(
        UserWarning, match=r"Column 'a' holds numbers in lb, which are converted: '11\.2 lb' is read as 5"
    ):
        rows = model_rows(file, model).table(file.whole())
    assert rows.column("a").tolist() == pytest.approx([5.080235, 0.453592], rel=1e-5)


def test_rows_of_a_file_are_those_of_the_frame(tmp_path: Path) -> None:
    model = of_frame()
    file = opened(tmp_path, 'more,day,kind,a\nx,04.10.2024,p,"1,000.5"\ny,05.10.2024,,2\n')
    found = model_rows(file, model)
    assert list(found.kinds) == ["a", "kind", "day"]
    rows = found.table(file.whole())
    assert rows.names == ("a", "kind", "day")
    assert rows.column("a").tolist() == [1000.5, 2.0]
    assert rows.column("kind").tolist() == ["p", None]
    assert rows.column("day").tolist() == [20_000.0, 20_001.0]


def test_a_model_of_an_array_takes_columns_as_they_come(tmp_path: Path) -> None:
    model = of_array()
    file = opened(tmp_path, "p,q\n1,2\n3,4\n")
    rows = model_rows(file, model).table(file.whole())
    assert rows.numbers.tolist() == [[1, 2], [3, 4]]
    named = opened(tmp_path, "x1,q,x0\n1,2,3\n")
    assert model_rows(named, model).table(named.whole()).numbers.tolist() == [[3, 1]]
    with pytest.raises(ValueError, match="must have the 2 columns that the model was fitted to; it lacks 'x0', 'x1'"):
        model_rows(opened(tmp_path, "p,q,r\n1,2,3\n"), model)


def test_columns_that_lack_are_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"must have the 3 columns that the model was fitted to; it lacks 'kind'\."):
        model_rows(opened(tmp_path, "a,day,Kind\n1,2,3\n"), of_frame())
    X = pl.DataFrame({f"c{i}": np.random.default_rng(i).normal(size=9) for i in range(7)})
    wide = LPNNRegressor(**TINY).fit(X, np.arange(9.0))
    with pytest.raises(ValueError, match=r"it lacks 'c0', 'c1', 'c2', 'c3', 'c4', \.\.\.\."):
        model_rows(opened(tmp_path, "a\n1\n"), wide)


def test_a_bare_polynomial_is_no_estimator(tmp_path: Path) -> None:
    model = of_array()
    model.save(tmp_path / "m.ladder")
    assert np.array_equal(
        load_estimator(tmp_path / "m.ladder").predict(np.ones((1, 2))), model.predict(np.ones((1, 2)))
    )
    model.polynomial_.save(tmp_path / "p.ladder")
    with pytest.raises(
        ValueError, match="must hold a fitted estimator; it holds a polynomial without its preprocessing"
    ):
        load_estimator(tmp_path / "p.ladder")


pytestmark = pytest.mark.usefixtures(small_models.__name__)


@pytest.mark.slow
def test_cells_are_read_as_they_were_in_training_and_in_other_spellings() -> None:
    model = fit_table(pl.DataFrame(shop()), "y", seconds=0, drop=["kind"], compare=False)
    assert [column.reading.kind for column in model_columns(model)] == [
        "number",
        "date",
        "boolean",
        "category",
        "number",
        "category",
    ]
    new = (
        pl.DataFrame(shop())
        .head(4)
        .with_columns(
            fee=pl.Series(["$1,500.00", "1500", "1,500", "$1500"]), garden=pl.Series(["y", "FALSE", "1", "Yes"])
        )
    )
    file = frame_file(new)
    rows = model_rows(file, model).table(new)
    assert rows.column("fee").tolist() == [1500.0] * 4
    assert rows.column("garden").tolist() == ["Yes", "no", "Yes", "Yes"]
    assert rows.column("sold").dtype == np.float64
    # A frame is read as the file is: the target and other columns stand in nobody's way, in whatever order.
    table = pl.DataFrame(shop())
    file = frame_file(table)
    expected = model.predict(model_rows(file, model).table(table))
    assert np.ptp(expected) > 0
    dates = table.with_columns(pl.col("sold").str.to_date("%d.%m.%Y"))
    for given in (table, table[table.columns[::-1]], table.to_pandas(), table.drop("y", "kind"), dates):
        np.testing.assert_array_equal(model.predict(given), expected)
    np.testing.assert_allclose(model.explain(table.head(3)).contributions.predictions, expected[:3])
    with pytest.raises(ValueError, match="the table must have the 6 columns that the model was fitted to; it lacks"):
        model.predict(table.drop("fee"))
