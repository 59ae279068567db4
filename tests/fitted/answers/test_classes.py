import numpy as np
import pytest
import torch
from scipy.special import expit, softmax

from polyladder.fitted.answers.classes import Classes


def test_probabilities_are_those_of_scipy():
    scores = torch.randn(3, 7, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    mean = scores.mean(0).numpy()
    many = Classes(("a", "b", "c", "d"), "softmax")
    np.testing.assert_allclose(many.probabilities(scores).numpy(), softmax(mean, 1), rtol=1e-12)
    apart = Classes(("a", "b", "c", "d"), "one-versus-rest").probabilities(scores).numpy()
    np.testing.assert_allclose(apart, expit(mean) / expit(mean).sum(1, keepdims=True), rtol=1e-12)
    two = Classes((False, True), "softmax")
    np.testing.assert_allclose(two.probabilities(scores[..., :1]).numpy()[:, 1], expit(mean[:, 0]), rtol=1e-12)
    assert two.predict(scores[..., :1]).tolist() == (mean[:, 0] > 0).tolist()
    assert many.predict(scores).tolist() == ["abcd"[k] for k in mean.argmax(1)]


def test_ratios_count_where_all_classes_are_improbable():
    scores = torch.tensor([[[-800.0, -801.0, -900.0]]], dtype=torch.float64)
    found = Classes((0, 1, 2), "one-versus-rest").probabilities(scores)[0]
    assert found[0] / found[1] == pytest.approx(np.e)


def test_outputs_have_names():
    assert Classes(("no", "yes"), "softmax").label("sick", 0) == "log-odds of sick = yes"
    assert Classes((1, 2, 3), "softmax").label("grade", 2) == "score of 3"
