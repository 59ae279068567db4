from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from polyladder import LPNNClassifier, LPNNRegressor, load
from polyladder.estimators.restored import check_restored
from polyladder.estimators.restored_thresholds import unfit_thresholds
from polyladder.predictive.conformal import Thresholds
from tests.estimators.small import TINY, labels, rows

LEVELS = torch.tensor([0.5, 0.9]).double()


@pytest.fixture
def model() -> Any:
    return LPNNClassifier(**TINY).fit(*labels(60, ("a", "b", "c"))).calibrate(*labels(40, ("a", "b", "c")))


def test_what_was_learned_fits(model: Any) -> None:
    assert unfit_thresholds(model) is None
    check_restored(model)
    model.thresholds_ = None
    assert unfit_thresholds(model) is None


@pytest.mark.parametrize("held", ["", 0.5, (LEVELS, LEVELS), Thresholds(LEVELS, LEVELS.float())], ids=str)
def test_what_does_not_is_refused(model: Any, held: Any) -> None:
    model.thresholds_ = held
    with pytest.raises(ValueError, match="thresholds_ is not what it should be"):
        check_restored(model)


def test_numbers_have_no_sets() -> None:
    model = LPNNRegressor(**TINY).fit(*rows(60))
    model.thresholds_ = Thresholds(LEVELS, LEVELS)
    assert unfit_thresholds(model) == "thresholds_"


@pytest.mark.parametrize("scores", [[0.9, 0.5], [-0.1, 0.5], [0.5, float("nan")]])
def test_a_file_whose_thresholds_fall_is_refused(model: Any, scores: list[float], tmp_path: Path) -> None:
    model.thresholds_ = Thresholds(LEVELS, LEVELS.clone())
    model.thresholds_.scores.copy_(torch.tensor(scores))
    model.save(tmp_path / "m.ladder")
    with pytest.raises(ValueError, match=r"is damaged: .*scores must be finite, at least 0 and never fall"):
        load(tmp_path / "m.ladder")


def test_a_file_gives_the_same_sets(model: Any, tmp_path: Path) -> None:
    X, _ = labels(50, ("a", "b", "c"))
    model.save(tmp_path / "m.ladder")
    for level in (0.5, 0.9, 0.999):
        before, after = (m.predict_distribution(X).sets(level) for m in (model, load(tmp_path / "m.ladder")))
        np.testing.assert_array_equal(before, after)
