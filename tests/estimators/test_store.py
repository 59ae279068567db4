"""Estimators in files: they come back as they were, and nothing else does."""

import json
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file
from sklearn.base import clone, is_classifier
from sklearn.datasets import make_friedman1
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import FunctionTransformer

import polyladder
from polyladder import (
    BayesianLPNNRegressor,
    FactorizationMachineClassifier,
    FactorizationMachineRegressor,
    FeedforwardClassifier,
    FeedforwardRegressor,
    GradientTraining,
    LPNNClassifier,
    LPNNRegressor,
    PolynomialKernelClassifier,
    PolynomialKernelRegressor,
    load,
)
from polyladder.estimators import store
from polyladder.estimators.writer import Writer
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
    LPNNClassifier(order=2, width=3, gradient=GradientTraining(dropout=0.0)),
]


def fitted(estimator):
    known = estimator.get_params()
    model = clone(estimator).set_params(max_iter=2, random_state=0)
    if "n_estimators" in known:
        model.set_params(n_estimators=2)
    return model.fit(FRAME, CLASSES if is_classifier(model) else TARGET)


def outputs(model, X):
    return model.predict_proba(X) if is_classifier(model) else model.predict(X)


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


FIXTURES = Path(__file__).parents[1] / "fixtures"
WRITTEN_BEFORE = json.loads((FIXTURES / "predictions_0_1.json").read_text(encoding="utf-8"))


@pytest.mark.filterwarnings("ignore:.*was written with scikit-learn")
@pytest.mark.parametrize("name", WRITTEN_BEFORE)
def test_files_of_the_first_release_predict_what_they_did(name: str) -> None:
    model, known = load(FIXTURES / f"{name}.ladder"), WRITTEN_BEFORE[name]
    X = pl.DataFrame(known["columns"]) if "columns" in known else np.array(known["rows"])
    if "predict_proba" in known:
        assert model.predict(X).tolist() == known["predict"]
        assert model.predict_proba(X) == pytest.approx(np.array(known["predict_proba"]), rel=1e-12)
        assert set(model.sample(X, 3).ravel()) <= set(model.classes_)
    else:
        assert model.predict(X) == pytest.approx(np.array(known["predict"]), rel=1e-12)
    assert repr(model).startswith(type(model).__name__)


@pytest.mark.slow
def test_bayesian_estimators_come_back_too(tmp_path: Path) -> None:
    model = BayesianLPNNRegressor(order=2, width=2, warmup=3, draws=5, random_state=0)
    model.fit(FRAME, TARGET)
    model.save(tmp_path / "m.ladder")
    back = load(tmp_path / "m.ladder")
    assert np.array_equal(back.predict(FRAME), model.predict(FRAME))
    for mine, theirs in zip(back.predict_interval(FRAME), model.predict_interval(FRAME), strict=True):
        assert np.array_equal(mine, theirs)
    assert back.polynomial_ == model.polynomial_


def test_what_was_learned_goes_on_working(tmp_path: Path) -> None:
    X, y = NUMBERS[:, [0, 2]], TARGET
    model = LPNNRegressor(features="standard", effort="low", random_state=np.random.RandomState(3))
    model.fit(X, y)
    model.save(tmp_path / "m.ladder")
    back = load(tmp_path / "m.ladder")
    assert back.selection_ == model.selection_
    assert back.polynomial_ == model.polynomial_
    assert np.array_equal(back.trust(X), model.trust(X))
    assert back.polynomial_in_original_units() == model.polynomial_in_original_units()
    # Where a generator stood is not kept; from a seed both go on alike.
    assert back.random_state is None
    for each in (back, model):
        each.set_params(random_state=1).partial_fit(X, y)
    assert np.array_equal(back.predict(X), model.predict(X))


@cache
def large() -> LPNNRegressor:
    """A selected model of several kernels, which no small ladder has replaced."""
    X, y = make_friedman1(150, noise=0.5, random_state=0)
    return LPNNRegressor(compact=False, effort="low", random_state=0).fit(X, y)


def test_a_large_model_is_stored_without_its_zeros(tmp_path: Path) -> None:
    model, (X, _) = large(), make_friedman1(150, noise=0.5, random_state=0)
    assert len(model.members_) > 1
    model.save(tmp_path / "m.ladder")
    back = load(tmp_path / "m.ladder")
    assert back.members_ == model.members_
    assert back.polynomial_ == model.polynomial_
    for method in ("predict", "trust", "predict_float32"):
        assert np.array_equal(getattr(back, method)(X), getattr(model, method)(X))
    weights = {id(t): t.numel() for p in (model.members_, model.polynomial_) for t in p.tensors().values()}
    dense = 8 * (sum(weights.values()) + 2 * model.support_.factor.numel())  # as it was stored before
    assert (tmp_path / "m.ladder").stat().st_size < dense / 5


def test_a_file_that_holds_what_is_made_now_loads_as_before(tmp_path: Path) -> None:
    """Files held the wide ladder beside the members, and the Gram matrix beside its factor."""
    path = tmp_path / "m.ladder"
    path.write_bytes(saved(0))
    known = load(path)

    def change(header, tensors):
        writer = Writer()
        state = header["estimator"]["state"]
        text = json.dumps(writer.node([known.polynomial_, known.support_.gram], "it"))
        # Under names that the file does not have yet.
        held = json.loads(text.replace('"name": "t', '"name": "o'))
        state["polynomial_"], state["support_"]["state"]["gram"] = held
        tensors.update({f"o{name[1:]}": t.contiguous() for name, t in writer.tensors.items()})

    damaged(path, change)
    back = load(path)
    assert vars(back).keys() == vars(known).keys()
    assert back.polynomial_ == known.polynomial_
    assert np.array_equal(back.predict(FRAME), known.predict(FRAME))
    assert np.array_equal(back.trust(FRAME), known.trust(FRAME))


@pytest.mark.parametrize("generator", [np.random.RandomState(1), np.random.default_rng(1)], ids=["state", "generator"])
def test_states_of_generators_are_not_stored(generator, tmp_path: Path) -> None:
    model = BayesianLPNNRegressor(order=2, width=2, warmup=2, draws=4, random_state=0).fit(NUMBERS[:, :1], TARGET)
    model.set_params(random_state=generator).save(tmp_path / "m.ladder")
    back = load(tmp_path / "m.ladder")
    assert back.random_state is None
    assert back.sample(NUMBERS[:3, :1], 2).shape == (2, 3)


def test_a_generator_at_an_impossible_position_is_forgotten(tmp_path: Path) -> None:
    """Numpy takes any position of a generator from its state, and reads there."""
    path = tmp_path / "m.ladder"
    path.write_bytes((FIXTURES / "factorization_machine_0_1.ladder").read_bytes())

    def change(header, tensors):
        header["estimator"]["state"]["random_state"]["state"]["items"][2] = 10**6

    damaged(path, change)
    model = load(path)
    assert model.random_state is None
    assert model.fit(NUMBERS[:, [0, 2]], TARGET).predict(NUMBERS[:, [0, 2]]).shape == (60,)


def test_sparse_rows(tmp_path: Path) -> None:
    from scipy import sparse

    X = sparse.random_array((50, 8), density=0.3, rng=np.random.default_rng(0)).tocsr()
    model = LPNNRegressor(order=2, width=2, max_iter=1, random_state=0).fit(X, X.sum(1))
    model.save(tmp_path / "m.ladder")
    assert np.array_equal(load(tmp_path / "m.ladder").predict(X), model.predict(X))


def test_weights_keep_their_order_in_memory(tmp_path: Path) -> None:
    """The order in memory decides how products are summed, and so the last bit."""
    model = fitted(LADDERS[0])
    across = model.members_.map(lambda t: t.mT.contiguous().mT if t.dim() == 3 else t)
    model.members_ = across
    model.save(tmp_path / "m.ladder")
    back = load(tmp_path / "m.ladder").members_
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
    model.card_ = {"more": value}
    model.save(tmp_path / "m.ladder")
    back = load(tmp_path / "m.ladder").card_["more"]
    assert type(back) is type(value)
    if isinstance(value, np.ndarray | torch.Tensor):
        assert back.dtype == (value.dtype.newbyteorder("=") if isinstance(value, np.ndarray) else value.dtype)
        assert back.shape == value.shape
        assert back.tolist() == value.tolist()
    else:
        assert back == value


def test_what_cannot_be_stored_is_refused_by_name(tmp_path: Path) -> None:
    model = fitted(LADDERS[0])
    itself: list = []
    itself.append(itself)
    objects = np.array([object()])
    sparse = torch.zeros(2, 2).to_sparse()
    complex_numbers = [np.array([1j], dtype=kind) for kind in ("complex64", "complex256")]
    for bad in (
        lambda x: x,
        FunctionTransformer(),
        object(),
        {1, 2},
        Path("a"),
        objects,
        sparse,
        {0.5: 1},
        *complex_numbers,
    ):
        model.card_ = {"deep": [bad]}
        with pytest.raises(TypeError, match=r"LPNNRegressor\.card_\['deep'\]\[0\] must"):
            model.save(tmp_path / "m.ladder")
    model.card_ = itself
    with pytest.raises(TypeError, match="must be nested at most 100 deep to be saved"):
        model.save(tmp_path / "m.ladder")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(NotFittedError):
        LPNNRegressor().save(tmp_path / "m.ladder")


class Elsewhere(LPNNRegressor):
    """A class that a reader would not find."""


def test_a_class_from_elsewhere_is_refused_when_saving(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="objects of polyladder to be saved; got Elsewhere"):
        Elsewhere(order=2, width=2, max_iter=1, n_estimators=1).fit(NUMBERS[:, :1], TARGET).save(tmp_path / "m.ladder")


@cache
def saved(number: int) -> bytes:
    """The file of one of the estimators, fitted once for all tests that damage it."""
    with TemporaryDirectory() as folder:
        fitted((LADDERS + RIVALS)[number]).save(Path(folder) / "m.ladder")
        return (Path(folder) / "m.ladder").read_bytes()


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
        (lambda h, t: h.update(estimator=[1]), "it holds list, not an estimator"),
        (lambda h, t: h["estimator"]["state"]["members_"]["state"].pop("offset"), "is damaged"),
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
    path.write_bytes(saved(0))
    load(path)
    damaged(path, change)
    with pytest.raises(ValueError, match=sentence):
        load(path)


def state_of(*names):
    """The state of a part of the estimator in a header."""

    def find(header):
        state = header["estimator"]["state"]
        for name in names:
            state = state[name]["state"]
        return state

    return find


FEATURES, ENCODER = state_of("features_"), state_of("features_", "encoder_")
TARGET_STATE = state_of("target_")


def put(find, **values):
    """Attributes of a part of the estimator replaced."""
    return lambda header, tensors: find(header).update(values)


def entry(value):
    """A card with one entry, which nobody reads."""
    return {"~": "dict", "items": [["more", value]]}


def own(**values):
    return put(state_of(), **values)


def text(items, dtype="|O", shape=None):
    return {"~": "text", "dtype": dtype, "shape": [len(items)] if shape is None else shape, "items": items}


def nested(depth):
    return json.loads("[" * depth + "]" * depth)


def stored(array):
    """A new tensor under the name "new"."""
    return lambda header, tensors: tensors.update(new=torch.as_tensor(array))


def both(*changes):
    return lambda header, tensors: [change(header, tensors) for change in changes]


NEW = {"~": "array", "name": "new"}


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (own(card_=text(["a"], "<V500000000")), "an array of text has type"),
        (own(card_=text(["a" * 5000] + [""] * 5000, "<U5")), "arrays of text need more than 64 MiB"),
        (own(card_=text(["a"], shape=[-1])), "an array of 1 items has shape"),
        (own(card_=text([], shape=[0, 10**18])), "an array of 0 items has shape"),
        (own(card_=text(["a"], shape=[1.0])), "an array of 1 items has shape"),
        (own(card_=text([[1]])), "an array of text holds other things"),
        (own(card_=text([1], "<U5")), "an array of text holds other things"),
        (own(card_={"~": "dtype", "name": "<U500000000"}), "unknown type of numbers"),
        (own(card_={"~": "dtype", "name": "(1000000000,)f8"}), "unknown type of numbers"),
        (own(card_={"~": "scalar", "dtype": "<U500000000", "value": 1}), "unknown type of numbers"),
        (own(card_={"~": "scalar", "dtype": "|i1", "value": 1000}), "does not form an estimator"),
        (own(card_={"~": "float", "value": "1e5"}), "does not form an estimator"),
        (own(card_={"~": "tuple", "items": 7}), "the items of a tuple are no list"),
        (own(card_={"~": ["tuple"], "items": []}), "unknown kind of value"),
        (own(card_={"~": "dict", "items": [[nested(1), 1]]}), "a key is neither text nor a small integer"),
        (own(card_={"~": "dict", "items": [[2**61, 1]]}), "a key is neither text nor a small integer"),
        (own(card_={"~": "tensor", "name": "absent"}), "does not form an estimator"),
        (own(card_={"~": "tensor", "name": ["t0"]}), "does not form an estimator"),
        (own(card_={"~": "tensor", "name": "t0", "order": [1]}), "has no dimensions"),
        (own(card_={"~": "tensor", "name": "t0", "order": [False]}), "has no dimensions"),
        (own(card_=nested(101)), "nested too deep"),
        (own(card_=nested(900)), "nested too deep"),
        (own(__class__="x"), "LPNNRegressor has no attribute '__class__'"),
        (own(predict="x"), "LPNNRegressor has no attribute 'predict'"),
        (own(**{"a b": 1}), "LPNNRegressor has no attribute 'a b'"),
        (own(order={"~": "object", "class": "SparseFeatures", "state": {}}), "parameter order is no plain value"),
        (own(n_features_in_=5), "n_features_in_ is wrong"),
        (put(FEATURES, categorical_=[3]), "there are no such categories"),
        (own(feature_names_in_=text(["a"])), "feature_names_in_ does not name each column"),
        (put(TARGET_STATE, flat=None), "target_ has another shape"),
        (put(TARGET_STATE, scale=None), "scale is no tensor"),
        (own(target_=None), "target_ is none of numbers"),
        (own(target_names_=[["y"]]), "target_names_ are no text"),
        (own(features_=None), "does not form an estimator"),
        (own(members_=None), "members_ is of type NoneType"),
        (own(support_=None), "support_ is none"),
        (swap_class("BayesianLPNNRegressor"), "does not form an estimator"),
        (swap_class("LPNNClassifier"), "does not form an estimator"),
        (swap_class("Features"), "it holds Features, not an estimator"),
        (swap_class("LadderPolynomial"), "does not form an estimator"),
        (swap_class("FactorizationMachine"), "FactorizationMachine is a module"),
        (swap_class(["LPNNRegressor"]), "which polyladder .* does not have"),
        (put(FEATURES, feature_names_out_=["a"]), "the transformed table must have shape"),
        (put(FEATURES, encoded_={"~": "tuple", "items": [0]}), "there are no such categories"),
        (put(FEATURES, names_in_={"~": "tuple", "items": []}), "there are no such categories"),
        (put(FEATURES, scaler_=None), "scaler_ is of type NoneType"),
        (put(FEATURES, mean_=[0.0]), "mean_ is of type list"),
        (both(stored(np.zeros(2)), put(FEATURES, mean_=NEW)), "mean_ must have shape"),
        (put(ENCODER, _n_features_outs=[10**9]), "there are more columns than categories"),
        (put(ENCODER, categories_=[text([1, 2, 3])]), "categories_ are no text"),
        (both(stored(np.full((1, 100_000), 0)), put(FEATURES, varying_=NEW)), "varying_ must have shape"),
        (both(stored(np.zeros((1, 100_000))), put(FEATURES, low_=NEW)), "low_ must have shape"),
        (both(stored(np.array([0, 1, 10**9])), put(FEATURES, varying_=NEW)), "varying_ lies outside of the table"),
        (both(stored(np.zeros((0, 2**40))), own(card_=NEW)), "'new' must hold numbers; got torch.float64 of shape"),
        (lambda h, t: h.update(kind=["estimator"]), "must hold a LadderPolynomial or an estimator; got kind"),
        (lambda h, t: h.update(kind=None), "must hold a LadderPolynomial or an estimator; got kind None"),
    ],
)
def test_a_file_made_to_harm_is_refused_with_its_reason(change, sentence, tmp_path: Path) -> None:
    path = tmp_path / "m.ladder"
    path.write_bytes(saved(0))
    damaged(path, change)
    with pytest.raises(ValueError, match=sentence) as caught:
        load(path)
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize("versions", [None, [], "1", {"scikit-learn": [1] * 9999}, {"scikit-learn": None}])
def test_versions_of_any_kind_are_mentioned_briefly(versions, tmp_path: Path) -> None:
    path = tmp_path / "m.ladder"
    path.write_bytes(saved(0))
    damaged(path, lambda h, t: h.update(versions=versions))
    with pytest.warns(UserWarning, match="written with scikit-learn of unknown version and is read with"):
        load(path)


def put_module(**values):
    """Constructor arguments of the stored module replaced."""

    def change(header, tensors):
        made = header["estimator"]["state"]["network_"]["made"]
        made["items"] = [[k, v] for k, v in made["items"] if k not in values] + [[k, v] for k, v in values.items()]

    return change


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (put_module(device="cpu", batch_shape=[10**9]), "Feedforward is not made from"),
        (put_module(hidden=[1] * 10**6), "Feedforward has more layers than weights"),
        (put_module(hidden=["a"]), "hidden must be a positive integer"),
        (put_module(batch_shape=[10**30]), "does not form an estimator"),
        (put_module(in_features=10**9), "size mismatch"),
        (lambda h, t: h["estimator"]["state"]["network_"].update({"class": "Features"}), "Features is no module"),
        (lambda h, t: t.update({n: v.float() for n, v in t.items() if v.dtype == torch.float64}), "must"),
    ],
)
def test_a_module_made_to_harm_is_refused_with_its_reason(change, sentence, tmp_path: Path) -> None:
    path = tmp_path / "m.ladder"
    path.write_bytes(saved(len(LADDERS)))
    damaged(path, change)
    with pytest.raises(ValueError, match=sentence):
        load(path)


def test_classes_must_be_as_many_as_the_outputs(tmp_path: Path) -> None:
    path = tmp_path / "m.ladder"
    path.write_bytes(saved(3))
    labels = text(["a", "b", "c", "d"])

    damaged(path, put(TARGET_STATE, labels=labels))
    with pytest.raises(ValueError, match=r"members_ maps .* to 3, not .* to 4"):
        load(path)
    damaged(path, put(TARGET_STATE, labels=text(["a", "b", "b"])))
    with pytest.raises(ValueError, match="the classes are not at least two"):
        load(path)


@pytest.mark.parametrize("part", ["noise", "degrees", "slopes"])
def test_draws_must_belong_to_each_other(part: str, tmp_path: Path) -> None:
    path = tmp_path / "m.ladder"
    path.write_bytes((FIXTURES / "bayesian_classifier_0_1.ladder").read_bytes())
    node = {"~": "tensor", "name": "new"}
    damaged(path, both(stored(torch.zeros(12, 1, 1, 3).double()), put(state_of("posterior_"), **{part: node})))
    with pytest.raises(ValueError, match=f"{part} must have shape"):
        load(path)


def test_text_takes_the_memory_that_it_needs_and_not_what_the_file_asks_for(tmp_path: Path) -> None:
    path = tmp_path / "m.ladder"
    path.write_bytes(saved(0))
    damaged(path, own(card_=entry(text(["a", "bcd"], "<U500000000"))))
    assert load(path).card_["more"].dtype == np.dtype("<U3")


def test_an_array_that_is_named_often_is_there_once(tmp_path: Path) -> None:
    path = tmp_path / "m.ladder"
    path.write_bytes(saved(0))
    damaged(path, both(stored(np.zeros(10**6)), own(card_=entry([NEW] * 10_000))))
    card = load(path).card_["more"]
    assert all(np.shares_memory(card[0], other) for other in card)


def test_a_parameter_that_is_newer_than_the_file_has_its_default(tmp_path: Path) -> None:
    path = tmp_path / "m.ladder"
    path.write_bytes(saved(0))
    damaged(path, lambda h, t: (h["estimator"]["state"].pop("tol"), ENCODER(h).pop("max_categories")))
    assert load(path).tol == 1e-3


def test_a_changed_letter_in_the_header_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "m.ladder"
    path.write_bytes(saved(0))
    content = path.read_bytes()
    assert content.count(b"impute") > 0
    path.write_bytes(content.replace(b"impute", b"input3", 1))
    with pytest.raises(ValueError, match="does not match its checksum"):
        load(path)


def test_another_scikit_learn_is_mentioned(tmp_path: Path) -> None:
    path = tmp_path / "m.ladder"
    path.write_bytes(saved(0))
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
