"""Model files damaged in every way: each loads and predicts, or is refused with a sentence; none takes much memory."""

import copy
import json
import tempfile
import warnings
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import save_file

from polyladder import LPNNRegressor, load
from polyladder.automatic.card import make_card
from polyladder.estimators.registry import CLASSES, OLD_NAMES
from polyladder.explain.explanation import explain
from polyladder.polynomial.store import digest, open_tensors
from polyladder.report.payload import card_json
from polyladder.tables.sparse_features import SparseFeatures
from tests.fitted.reading import read_model
from tests.fuzz import fuzz, limited_memory

FIXTURES = Path(__file__).parents[1] / "fixtures"
KNOWN = json.loads((FIXTURES / "predictions_0_1.json").read_text(encoding="utf-8"))
TODAY = "today"
NAMES = [*sorted(KNOWN), TODAY]
TAGS = ("float", "scalar", "tuple", "dict", "dtype", "scalar type", "random state", "tensor", "array", "text", "module")

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::UserWarning", "ignore::RuntimeWarning")]

texts = st.sampled_from(
    [
        "",
        "t0",
        "t3",
        "auto",
        "<U500000000",
        "|O",
        "<f8",
        "nan",
        "__class__",
        "predict",
        "(9999999,)f8",
        "\ud800",
        "x" * 999,
    ]
)
numbers = st.sampled_from([0, -1, 1, 2, 3, 624, 10**6, 2**31, 2**63, 10**18, 10**400, 0.5, 1e308, float("nan"), True])
names = st.sampled_from([*CLASSES, *OLD_NAMES, "os.system", "LPNN", "sklearn.FunctionTransformer"])
deep = st.sampled_from([50, 150, 300]).map(lambda depth: json.loads("[" * depth + "]" * depth))
plain = st.one_of(st.none(), numbers, texts, names, deep)
nodes = st.builds(
    lambda tag, items, rest: {"~": tag, "items": items, **rest},
    st.sampled_from(TAGS),
    st.lists(st.one_of(plain, st.lists(plain, min_size=2, max_size=2)), max_size=3) | plain,
    st.dictionaries(
        st.sampled_from(["name", "value", "dtype", "shape", "order", "class", "made", "state"]),
        plain | st.lists(numbers, max_size=3) | st.dictionaries(texts, plain, max_size=2),
    ),
)
replacements = st.one_of(plain, nodes, st.lists(plain, max_size=3), st.dictionaries(texts, plain, max_size=3))


def rows_of(name: str) -> Any:
    if name == TODAY:
        return small_frame()[:5]
    known = KNOWN[name]
    return pl.DataFrame(known["columns"]) if "columns" in known else np.array(known["rows"])


def small_frame() -> pl.DataFrame:
    rng = np.random.default_rng(0)
    return pl.DataFrame({"a": rng.normal(size=40), "t": rng.choice(["x", "y"], 40)})


@cache
def file_of(name: str) -> bytes:
    """A stored file of the first version, or one as they are written today, with a card and a packed tensor."""
    if name != TODAY:
        return (FIXTURES / f"{name}.ladder").read_bytes()
    frame = small_frame()
    model = LPNNRegressor(order=2, width=40, n_estimators=1, random_state=0).fit(frame, frame["a"].to_numpy() ** 2)
    scores: Any = [{"model": "ladder", "seconds": 0.1, "rmse": 0.2, "r2": 0.9}]
    held: Any = {"observed": [1.0, 2.0, 3.0], "predicted": [1.5, 2.5, 3.5]}
    model.card_ = make_card(model, frame, scores=scores, held_out=held, selection={"sentence": "By hand."})
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "m.ladder")
        assert "packed" in json.loads(open_tensors(Path(folder) / "m.ladder")[0]["header"])
        return (Path(folder) / "m.ladder").read_bytes()


@pytest.fixture(scope="module", autouse=True)
def _imported(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What loading and predicting import must not count as memory that a file takes."""
    for name in NAMES:
        path = tmp_path_factory.getbasetemp() / "whole.ladder"
        path.write_bytes(file_of(name))
        use(path, rows_of(name))


def use(path: Path, X: Any) -> None:
    """Load and, if that works, do what people do with a model; only sentences may come out."""
    model, error = attempt(path, partial(load, path), OSError)
    if error is not None:
        assert str(error).startswith(str(path))
        assert len(str(error)) < 1000
        return
    assert len(repr(model)) < 10_000
    assert model.get_params().keys() == type(model)().get_params().keys()
    for method in ("predict", "predict_proba", "decision_function", "trust"):
        if hasattr(model, method):
            found, error = attempt(path, partial(getattr(model, method), X))
            # Gaps are refused where the damaged file does not say any more that they are to be filled.
            assert str(error) if error is not None else len(found) == len(X)
    # What a card says is read by whoever explains or draws the model.
    if not isinstance(model.features_, SparseFeatures):
        attempt(path, lambda: json.dumps(card_json(read_model(model))))
        attempt(path, lambda: explain(model))


def attempt(path: Path, act: Callable[[], Any], *refusals: type[Exception]) -> tuple[Any, Exception | None]:
    """What comes out, or the refusal, within memory in proportion to the file."""
    try:
        with limited_memory(10 * path.stat().st_size + 100 * 2**20):
            return act(), None
    except (ValueError, *refusals) as error:
        if "allocate" in f"{error} {error.__cause__}":  # which is how torch says it, in an error that may be anything
            raise MemoryError from error
        return None, error


@fuzz
@given(st.sampled_from(NAMES), st.data())
def test_damaged_bytes(tmp_path_factory: pytest.TempPathFactory, name: str, data: st.DataObject) -> None:
    content = bytearray(file_of(name))
    for _ in range(data.draw(st.integers(1, 3))):
        # Most of the danger is in the first bytes: the length of the header, and its beginning.
        at = min(data.draw(st.integers(0, 20) | st.integers(0, 30_000)), len(content) - 1)
        match data.draw(st.sampled_from(["flip", "cut", "end", "insert"])):
            case "flip":
                content[at] ^= 1 << data.draw(st.integers(0, 7))
            case "cut":
                del content[at : at + data.draw(st.integers(1, 100))]
            case "end":
                del content[at:]
            case "insert":
                content[at:at] = data.draw(st.binary(min_size=1, max_size=20))
        if not content:
            break
    path = tmp_path_factory.getbasetemp() / "bytes.ladder"
    path.write_bytes(content)
    use(path, rows_of(name))


def places(node: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) in a tree of JSON."""
    keys = list(node) if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ()
    return [found for key in keys for found in [(node, key), *places(node[key])]]


def shaped_otherwise(t: torch.Tensor, data: st.DataObject) -> torch.Tensor:
    match data.draw(st.sampled_from(["type", "flat", "more", "empty", "nan", "huge", "zero"])):
        case "type":
            return t.to(
                data.draw(st.sampled_from([torch.float32, torch.bfloat16, torch.int64, torch.bool, torch.uint8]))
            )
        case "flat":
            return t.reshape(-1)
        case "more":
            return t.unsqueeze(data.draw(st.integers(0, t.dim())))
        case "empty":
            return t[:0] if t.dim() else torch.zeros(0, 2**40)
        case "nan":
            return t * float("nan")
        case "huge":
            return t * (10**9)
        case _:
            return t * 0


def damage(header: dict[str, Any], tensors: dict[str, torch.Tensor], data: st.DataObject) -> None:
    """Change something, anywhere."""
    how = data.draw(st.sampled_from(["replace", "replace", "swap", "delete", "rename", "tensor"]))
    if how == "tensor":
        name = data.draw(st.sampled_from(sorted(tensors)))
        tensors[name] = shaped_otherwise(tensors[name], data).clone()
        return
    # Wherever there is a list of numbers it would win by their count, so the level is drawn first.
    spots = places(header) if data.draw(st.booleans()) else places(header["estimator"])
    spots = [spot for spot in spots if isinstance(spot[0], dict)] if data.draw(st.booleans()) else spots
    node, key = spots[data.draw(st.integers(0, len(spots) - 1))]
    match how:
        case "replace":
            node[key] = copy.deepcopy(data.draw(replacements))
        case "swap":
            other, there = spots[data.draw(st.integers(0, len(spots) - 1))]
            node[key] = copy.deepcopy(other[there])
        case "delete":
            del node[key]
        case "rename" if isinstance(node, dict):
            node[data.draw(texts)] = node.pop(key)


@fuzz
@given(st.sampled_from(NAMES), st.data())
def test_damaged_structure_with_a_checksum_that_fits(
    tmp_path_factory: pytest.TempPathFactory, name: str, data: st.DataObject
) -> None:
    path = tmp_path_factory.getbasetemp() / "structure.ladder"
    path.write_bytes(file_of(name))
    metadata, tensors = open_tensors(path)
    # The tensors lie in the file until they are used, and the file is to be replaced.
    tensors = {key: t.clone() for key, t in tensors.items()}
    header = json.loads(metadata["header"])
    for _ in range(data.draw(st.integers(1, 3))):
        if not isinstance(header.get("estimator"), dict):
            break
        damage(header, tensors, data)
    metadata["header"] = json.dumps(header)
    metadata["sha256"] = digest(tensors, metadata["header"])
    save_file(tensors, path, metadata=metadata)
    use(path, rows_of(name))


@pytest.mark.parametrize("name", sorted(KNOWN))
def test_whole_files_pass_the_same_checks(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        use(FIXTURES / f"{name}.ladder", rows_of(name))
        load(FIXTURES / f"{name}.ladder")
