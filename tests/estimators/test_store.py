"""Estimators in files: they come back as they were, and nothing else does."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import FunctionTransformer

import polyladder
from polyladder import (
    FactorizationMachineClassifier,
    FactorizationMachineRegressor,
    FeedforwardClassifier,
    FeedforwardRegressor,
    LPNNClassifier,
    LPNNRegressor,
    PolynomialKernelClassifier,
    PolynomialKernelRegressor,
    load,
)
from polyladder.estimators import store
from polyladder.polynomial.store import digest

RNG = np.random.default_rng(0)
NUMBERS = RNG.normal(size=(60, 3))
NUMBERS[::7, 1] = np.nan
FRAME = pl.DataFrame(
    {
        "a (m)": NUMBERS[:, 0],
        "größe": NUMBERS[:, 1],
        "<b>": NUMBERS[:, 2],
        "kind": RNG.choice(np.array(["x", "y", None], dtype=object), 60),
    },
    strict=False,
)
TARGET = 2.0 * NUMBERS[:, 0] + NUMBERS[:, 2] ** 2
CLASSES = np.where(TARGET > 2, "high", np.where(TARGET > 0, "mid", "low"))

RIVALS = [
    FeedforwardRegressor(hidden=(4,)),
    FeedforwardClassifier(hidden=(4,), batch_norm=True),
    FactorizationMachineRegressor(order=3, rank=2),
    FactorizationMachineClassifier(order=2, rank=2, multiclass="ovr"),
    PolynomialKernelRegressor(degree=3, rank=2),
    PolynomialKernelClassifier(degree=2, rank=2),
]
LADDERS = [
    *(LPNNRegressor(order=3, width=3, features=kind) for kind in ("standard", "quantile", "yeo-johnson")),
    LPNNClassifier(order=2, width=3, solver="alternating"),
    LPNNClassifier(order=2, width=3, dropout=0.0),
]


def fitted(estimator):
    known = estimator.get_params()
    model = clone(estimator).set_params(missing="impute", max_iter=2, random_state=0)
    if "n_estimators" in known:
        model.set_params(n_estimators=2)
    return model.fit(FRAME, CLASSES if hasattr(model, "predict_proba") else TARGET)


def outputs(model, X):
    return model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)


@pytest.mark.parametrize("estimator", LADDERS + RIVALS, ids=repr)
def test_every_estimator_comes_back_bit_for_bit_with_its_preprocessing(estimator, tmp_path: Path) -> None:
    model = fitted(estimator)
    model.card_ = {"target": "price", "levels": [1, 2.5, None, float("nan")]}
    model.save(tmp_path / "m.ladder")
    back = load(tmp_path / "m.ladder")
    assert type(back) is type(model)
    assert back.get_params() == model.get_params()
    assert vars(back).keys() == vars(model).keys()
    unseen = FRAME.with_columns(pl.lit("new").alias("kind"), pl.col("größe") * 10)
    for rows in (FRAME, FRAME[:1]):
        assert np.array_equal(outputs(back, rows), outputs(model, rows))
    with pytest.warns(UserWarning, match="training did not see"):
        again = outputs(back, unseen)
    with pytest.warns(UserWarning, match="training did not see"):
        assert np.array_equal(again, outputs(model, unseen))
    assert back.card_["levels"][:3] == [1, 2.5, None]
    assert np.isnan(back.card_["levels"][3])


def test_bayesian_estimators_come_back_too(tmp_path: Path) -> None:
    bayesian = pytest.importorskip("polyladder.estimators.bayesian")
    model = bayesian.BayesianLPNNRegressor(order=2, width=2, warmup=3, draws=5, missing="impute", random_state=0)
    model.fit(FRAME, TARGET)
    model.save(tmp_path / "m.ladder")
    back = load(tmp_path / "m.ladder")
    assert np.array_equal(back.predict(FRAME), model.predict(FRAME))
    for mine, theirs in zip(back.predict_interval(FRAME), model.predict_interval(FRAME), strict=True):
        assert np.array_equal(mine, theirs)
    assert back.polynomial_ == model.polynomial_


def test_what_was_learned_goes_on_working(tmp_path: Path) -> None:
    X, y = NUMBERS[:, [0, 2]], TARGET
    model = LPNNRegressor(order="auto", width=2, n_estimators=2, max_iter=1, random_state=np.random.RandomState(3))
    model.fit(X, y)
    model.save(tmp_path / "m.ladder")
    back = load(tmp_path / "m.ladder")
    assert back.growth_ == model.growth_
    assert back.polynomial_ == model.polynomial_
    assert np.array_equal(back.trust(X), model.trust(X))
    assert back.polynomial_in_original_units() == model.polynomial_in_original_units()
    # The random state came back where it was, so both go on alike.
    for each in (back, model):
        each.partial_fit(X, y)
    assert np.array_equal(back.predict(X), model.predict(X))


def test_sparse_rows(tmp_path: Path) -> None:
    from scipy import sparse

    X = sparse.random_array((50, 8), density=0.3, rng=np.random.default_rng(0)).tocsr()
    model = LPNNRegressor(order=2, width=2, max_iter=1, random_state=0).fit(X, X.sum(1))
    model.save(tmp_path / "m.ladder")
    assert np.array_equal(load(tmp_path / "m.ladder").predict(X), model.predict(X))


def test_weights_keep_their_order_in_memory(tmp_path: Path) -> None:
    """The order in memory decides how products are summed, and so the last bit."""
    model = fitted(LADDERS[0])
    across = model.polynomial_.map(lambda t: t.mT.contiguous().mT if t.dim() == 2 else t)
    model.polynomial_ = across
    model.save(tmp_path / "m.ladder")
    back = load(tmp_path / "m.ladder").polynomial_
    assert [t.stride() for t in back.tensors().values()] == [t.stride() for t in across.tensors().values()]


@pytest.mark.parametrize(
    "value",
    [
        (1, "a", (2.0, None)),
        {"a": [1, 2], 3: (True,)},
        np.float32(1.5),
        np.str_("é"),
        float("-inf"),
        10**30,
        np.array(["a", None, 3], dtype=object),
        np.array([["a", "bc"]]),
        np.zeros((0, 3)),
        np.arange(3, dtype=">i4"),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.arange(6.0)[::-2],
        np.array(True),
        torch.tensor(3),
        torch.zeros(1).expand(3),
        np.dtype("float32"),
        np.int16,
    ],
    ids=repr,
)
def test_values_come_back_as_they_were(value, tmp_path: Path) -> None:
    model = fitted(LADDERS[0])
    model.card_ = value
    model.save(tmp_path / "m.ladder")
    back = load(tmp_path / "m.ladder").card_
    assert type(back) is type(value)
    if isinstance(value, np.ndarray | torch.Tensor):
        assert back.dtype == (value.dtype.newbyteorder("=") if isinstance(value, np.ndarray) else value.dtype)
        assert back.shape == value.shape
        assert back.tolist() == value.tolist()
    else:
        assert back == value


def test_what_cannot_be_stored_is_refused_by_name(tmp_path: Path) -> None:
    model = fitted(LADDERS[0])
    for bad in (lambda x: x, FunctionTransformer(), object(), {1, 2}, Path("a"), np.array([1j], dtype="complex256")):
        model.card_ = {"deep": [bad]}
        with pytest.raises(TypeError, match=r"LPNNRegressor\.card_\['deep'\]\[0\] must"):
            model.save(tmp_path / "m.ladder")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(NotFittedError):
        LPNNRegressor().save(tmp_path / "m.ladder")


class Elsewhere(LPNNRegressor):
    """A class that a reader would not find."""


def test_a_class_from_elsewhere_is_refused_when_saving(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="objects of polyladder to be saved; got Elsewhere"):
        Elsewhere(order=2, width=2, max_iter=1, n_estimators=1).fit(NUMBERS[:, :1], TARGET).save(tmp_path / "m.ladder")


def damaged(path: Path, change) -> None:
    """Write the file anew after a change of its header or tensors, with a checksum that fits."""
    with safe_open(str(path), framework="pt") as file:
        metadata, tensors = file.metadata(), {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    header = json.loads(metadata["header"])
    change(header, tensors)
    metadata["header"] = json.dumps(header)
    metadata["sha256"] = digest(tensors, metadata["header"])
    save_file(tensors, path, metadata=metadata)


def swap_class(name):
    def change(header, tensors):
        header["estimator"]["class"] = name

    return change


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda h, t: h.pop("estimator"), "is damaged: it does not form an estimator"),
        (lambda h, t: t.pop("t0"), "is damaged: it does not form an estimator"),
        (lambda h, t: t.update(extra=torch.zeros(1)), "nothing refers to 'extra'"),
        (lambda h, t: h["estimator"]["state"].update(members_={"~": "pickle"}), "unknown kind of value 'pickle'"),
        (lambda h, t: h.update(estimator=[1]), "it holds a list, not an estimator"),
        (lambda h, t: h["estimator"]["state"]["polynomial_"]["state"].pop("offset"), "is damaged"),
        (swap_class("os.system"), "needs os.system, which polyladder .* does not have; it was written by polyladder"),
        (swap_class("polyladder.cli.main.app"), "needs polyladder.cli.main.app, which"),
        (swap_class("polyladder.estimators.base.evaluate"), "needs polyladder.estimators.base.evaluate, which"),
        (swap_class("polyladder.estimators.later.NewRegressor"), "Upgrade polyladder"),
        (swap_class("sklearn.FunctionTransformer"), "needs sklearn.FunctionTransformer, which"),
        (lambda h, t: h.update(kind="poem"), "must hold a LadderPolynomial or an estimator; got kind 'poem'"),
    ],
)
def test_a_damaged_or_foreign_file_is_refused_with_its_reason(change, sentence, tmp_path: Path) -> None:
    path = tmp_path / "m.ladder"
    fitted(LADDERS[0]).save(path)
    load(path)
    damaged(path, change)
    with pytest.raises(ValueError, match=sentence):
        load(path)


def test_a_changed_letter_in_the_header_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "m.ladder"
    fitted(LADDERS[0]).save(path)
    content = path.read_bytes()
    assert content.count(b"impute") > 0
    path.write_bytes(content.replace(b"impute", b"input3", 1))
    with pytest.raises(ValueError, match="does not match its checksum"):
        load(path)


def test_another_scikit_learn_is_mentioned(tmp_path: Path) -> None:
    path = tmp_path / "m.ladder"
    fitted(LADDERS[0]).save(path)
    damaged(path, lambda h, t: h["versions"].update({"scikit-learn": "0.9.1"}))
    with pytest.warns(UserWarning, match=r"written with scikit-learn 0\.9\.1 and is read with"):
        load(path)


def test_the_file_says_what_it_was_made_with(tmp_path: Path) -> None:
    fitted(LADDERS[0]).save(tmp_path / "m.ladder")
    with safe_open(str(tmp_path / "m.ladder"), framework="pt") as file:
        header = json.loads(file.metadata()["header"])
    assert header["class"] == "LPNNRegressor"
    assert header["versions"] == store.versions()
    assert header["versions"]["polyladder"] == polyladder.__version__
