"""Gaussian weights in a file: bit for bit, and refused with a reason where damaged."""

from pathlib import Path

import pytest
import torch

from polyladder import GaussianWeights, load
from polyladder.polynomial import store
from tests.ladders import BATCH_SHAPES, random_ladder, rows


def weights(batch_shape: tuple[int, ...] = (), dtype: torch.dtype = torch.float64) -> GaussianWeights:
    mean = random_ladder(3, (4, 2), 2, batch_shape, dtype=dtype)
    return GaussianWeights(mean, random_ladder(3, (4, 2), 2, batch_shape, dtype=dtype, seed=5).map(torch.square))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("batch_shape", BATCH_SHAPES)
def test_load_returns_what_was_saved(tmp_path: Path, batch_shape: tuple[int, ...], dtype: torch.dtype) -> None:
    saved = weights(batch_shape, dtype)
    saved.save(tmp_path / "posterior.ladder", feature_names=["a", "b", "c"])
    loaded = load(tmp_path / "posterior.ladder")
    assert isinstance(loaded, GaussianWeights)
    assert (loaded.mean, loaded.variance) == (saved.mean, saved.variance)
    x = rows(4, 3, dtype=dtype)
    assert torch.equal(loaded.predictive(x, 0.1).variance, saved.predictive(x, 0.1).variance)
    assert store.feature_names(tmp_path / "posterior.ladder") == ["a", "b", "c"]


def test_a_variance_that_is_none_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "posterior.ladder"
    good = weights()
    good.save(path)
    tensors, header = store.read_tensors(path)
    store.write_tensors(tensors | {"variance.b.0": -tensors["variance.b.0"]}, header, path)
    with pytest.raises(ValueError, match=r"is damaged: variance b\.0 must be non-negative"):
        load(path)
    store.write_tensors(tensors | {"median.b.0": tensors["mean.b.0"]}, header, path)
    with pytest.raises(ValueError, match=r"is damaged: 'median\.b\.0' is neither"):
        load(path)
    for names in ("abc", [1, 2, 3], ["a"]):
        store.write_tensors(tensors, header | {"feature_names": names}, path)
        with pytest.raises(ValueError, match=r"is damaged: (feature_names must be a list|it names 1 of its 3 inputs)"):
            load(path)
    halves = {name: t.float() if name.startswith("variance") else t for name, t in tensors.items()}
    store.write_tensors(halves, header, path)
    with pytest.raises(ValueError, match="is damaged"):
        load(path)
    del tensors["variance.W.1"]
    store.write_tensors(tensors, header, path)
    with pytest.raises(ValueError, match="is damaged: its weights do not form a ladder"):
        load(path)


def test_names_must_fit(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="feature_names must have 3 entries; got 2"):
        weights().save(tmp_path / "posterior.ladder", feature_names=["a", "b"])
