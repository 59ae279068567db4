from pathlib import Path

import numpy as np
import polars as pl
import pytest
from onnx import TensorProto
from skl2onnx import to_onnx
from sklearn.linear_model import LogisticRegression

from polyladder import BayesianLPNNRegressor, OnnxTeacher, load
from polyladder.automatic.distill import Distilling, columns_for, distill
from polyladder.tables.table_file import open_table
from tests.convert.onnx.test_teacher import graph

ASKED = Distilling(0.01)


@pytest.fixture
def product(tmp_path: Path) -> Path:
    """A model that gives the product of its two inputs, `fee` and `size`, found by their names."""
    made = graph(
        [("Mul", ["fee", "size"], ["y"])],
        [(name, TensorProto.DOUBLE, ["n", 1]) for name in ("fee", "size")],
        [("y", TensorProto.DOUBLE, ["n", 1])],
    )
    (tmp_path / "product.onnx").write_bytes(made.SerializeToString())
    return tmp_path / "product.onnx"


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    size, fee = rng.uniform(1, 3, (2, 60))
    pl.DataFrame(
        {
            "size": [f"{v:.3f}" for v in size],
            "town": rng.choice(["Bern", "Ulm"], 60),
            "fee": [f"${1000 * v:,.2f}" for v in fee],
            "flat": ["-999"] * 60,
        }
    ).write_csv(tmp_path / "rows.csv")
    return tmp_path / "rows.csv"


def test_columns_are_those_the_teacher_reads(product: Path, rows: Path, tmp_path: Path) -> None:
    frame, kinds = columns_for(OnnxTeacher(product), open_table(rows), ())
    assert frame.columns == ["size", "fee"]
    assert [kind.style.prefix for kind in kinds] == ["", "$"]
    assert frame["fee"].dtype == pl.Float64
    # A model that takes all columns of numbers gets those that never change, and what may mark missing ones, too.
    every = graph(
        [("Identity", ["rows"], ["y"])],
        [("rows", TensorProto.FLOAT, ["n", 2])],
        [("y", TensorProto.FLOAT, ["n", 2])],
    )
    (tmp_path / "every.onnx").write_bytes(every.SerializeToString())
    frame, _ = columns_for(OnnxTeacher(tmp_path / "every.onnx"), open_table(rows), ("size",))
    assert frame.columns == ["fee", "flat"]
    assert frame["flat"].to_list() == [-999.0] * 60


@pytest.mark.slow
def test_a_small_model_reads_files_as_the_table_was_written(product: Path, rows: Path, tmp_path: Path) -> None:
    small = distill(product, str(rows), ASKED)
    small.save(tmp_path / "small.ladder")
    again = load(tmp_path / "small.ladder")
    new = pl.DataFrame({"fee": ["$2,000.00"], "size": ["2"], "more": ["?"]})
    assert again.predict(new)[0] == pytest.approx(4000, rel=0.01)
    assert again.card_["selection"]["compact"] == small.selection_.compact
    assert again.card_["source"] == str(rows)
    assert sum(each.n_weights for each in small.members_) < 5_000


@pytest.mark.slow
def test_probabilities_are_kept(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 2)).astype(np.float32)
    labels = np.array(["no", "perhaps", "yes"])[np.digitize(X[:, 0] + 0.3 * rng.normal(size=80), [-0.5, 0.5])]
    model = LogisticRegression().fit(X, labels)
    # A class that is likely nowhere is left out.
    model.classes_ = np.append(model.classes_, "zero")
    model.coef_, model.intercept_ = np.vstack([model.coef_, [0, 0]]), np.append(model.intercept_, -20)
    (tmp_path / "m.onnx").write_bytes(to_onnx(model, X[:1]).SerializeToString())
    pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "label": labels}).write_csv(tmp_path / "rows.csv")
    small = distill(tmp_path / "m.onnx", str(tmp_path / "rows.csv"), ASKED)
    assert small.classes_.tolist() == ["no", "perhaps", "yes"]
    said = small.predict_proba(pl.DataFrame({"a": X[:, 0], "b": X[:, 1]}))
    assert np.abs(said - model.predict_proba(X)[:, :3]).mean() < 0.03


def test_a_posterior_is_compressed_in_python(rows: Path, tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(30, 2))
    model = BayesianLPNNRegressor(order=2, width=2, warmup=5, draws=5, chains=1, random_state=0).fit(X, X[:, 0])
    model.save(tmp_path / "m.ladder")
    with pytest.raises(ValueError, match=r"it holds a BayesianLPNNRegressor\. In Python"):
        distill(tmp_path / "m.ladder", str(rows), ASKED)
