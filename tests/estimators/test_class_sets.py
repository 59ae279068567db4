import numpy as np
import pytest
import torch

from polyladder import ClassPredictive
from polyladder.estimators.class_sets import LEVELS, learn_thresholds
from polyladder.predictive.conformal import class_scores


def said(n: int, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    """Probabilities of four classes that are much too sure, and the classes."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n, 4))
    p = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
    classes = (p.cumsum(1) < rng.random((n, 1))).sum(1)
    return torch.from_numpy(4 * scores).softmax(1), torch.from_numpy(classes)


@pytest.mark.parametrize("level", [0.5, 0.8, 0.95, 0.995])
def test_sets_hold_new_classes_as_often_as_they_state(level: float) -> None:
    p, classes = said(12_000)
    thresholds = learn_thresholds(p[:4000], classes[:4000])
    new = ClassPredictive(p[4000:], np.arange(4), thresholds)
    share = new.sets(level)[np.arange(8_000), classes[4000:].numpy()].mean()
    assert share > level - 3 * np.sqrt(level * (1 - level) / 4000)
    assert share < level + 0.02  # where more than the most probable class is needed
    plain = ClassPredictive(p[4000:], np.arange(4)).sets(level)
    assert abs(plain[np.arange(8_000), classes[4000:].numpy()].mean() - level) > abs(share - level)


def test_levels_are_those_that_the_rows_allow() -> None:
    p, classes = said(39)
    assert learn_thresholds(p, classes).levels.tolist() == list(LEVELS[:97])
    assert learn_thresholds(*said(2000)).levels.tolist() == list(LEVELS)
    assert learn_thresholds(*said(1)).levels.tolist() == list(LEVELS[:50])


def test_weights_of_rows_count() -> None:
    p, classes = said(1000)
    equal = learn_thresholds(p, classes, torch.full((1000,), 2.5).double())
    assert equal.scores.tolist() == learn_thresholds(p, classes).scores.tolist()
    # Where rows of one kind count three times, sets hold three times as many of these.
    weight = torch.where(classes < 2, 3.0, 1.0).double()
    scores = class_scores(p, classes)
    for level in (0.7, 0.9, 0.97):
        most = learn_thresholds(p, classes, weight).at(level)
        below, within = (weight[kept].sum() / weight.sum() for kept in (scores < most, scores <= most))
        assert below < level * 1001 / 1000 <= within + 1e-12
