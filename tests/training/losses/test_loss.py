"""What holds for every loss that is listed."""

import math
import pickle
from dataclasses import fields

import numpy as np
import pytest
import torch

from polyladder.training.losses import LOSSES, loss_and_targets, loss_named
from polyladder.training.losses.loss import Loss
from tests.ladders import rows
from tests.training.losses.cases import EVERY, case, target_for, total

STEP = 1e-6


def by_hand(loss: Loss, f: np.ndarray, y: np.ndarray) -> float:
    """The loss of one row with outputs f."""
    if loss.name == "squared":
        return float(np.mean((f - y) ** 2))
    if loss.name == "huber":
        bounds = np.broadcast_to(loss.thresholds, f.shape)  # type: ignore[attr-defined]
        sizes = zip(np.abs(f - y), bounds, strict=True)
        return float(np.mean([r**2 if r <= t else 2 * t * r - t**2 for r, t in sizes]))
    if loss.name == "softmax":
        return math.log(sum(math.exp(v) for v in f)) - f[int(y)]
    return float(np.mean([-math.log(1 / (1 + math.exp(-v if t else v))) for v, t in zip(f, y, strict=True)]))


@pytest.mark.parametrize("loss", EVERY)
@pytest.mark.parametrize("batch_shape", [(), (3,), (2, 3)])
@pytest.mark.parametrize("shared", [True, False])
def test_every_row_of_every_model(loss: Loss, batch_shape: tuple[int, ...], shared: bool) -> None:
    n, m = 5, 3
    f = 2 * rows(math.prod(batch_shape) * n, m).reshape(*batch_shape, n, m)
    y = target_for(loss, rows(math.prod(batch_shape) * n, m, seed=2).reshape(*batch_shape, n, m))
    if shared:
        y = y[(0,) * len(batch_shape)]
    found = loss.rows(f, y)
    assert found.shape == (*batch_shape, n)
    wide = y.expand(f.shape[: f.dim() - (loss.name == "softmax")])
    for index in np.ndindex(*batch_shape, n):
        assert found[index].item() == pytest.approx(by_hand(loss, f[index].numpy(), wide[index].numpy()), rel=1e-12)
    for values in (loss.slopes(f, y), loss.curvatures(f, y), loss.bound(f, y)[0]):
        assert values.shape == f.shape


@pytest.mark.parametrize("loss", EVERY)
def test_slopes_and_curvatures_are_differences(loss: Loss) -> None:
    f, y = case(loss, n=40)
    slopes, curvatures = loss.slopes(f, y), loss.curvatures(f, y)
    for j, unit in enumerate(torch.eye(3, dtype=torch.float64) * STEP):
        up, down = (total(loss, f + s * unit, y) for s in (1, -1))
        torch.testing.assert_close(slopes[:, j], (up - down) / (2 * STEP), rtol=1e-5, atol=1e-7)
        up, down = (loss.slopes(f + s * unit, y)[:, j] for s in (1, -1))
        torch.testing.assert_close(curvatures[:, j], (up - down) / (2 * STEP), rtol=1e-5, atol=1e-7)
    assert loss.curvature is not None
    assert (curvatures <= loss.curvature).all()


@pytest.mark.parametrize("loss", EVERY)
@pytest.mark.parametrize("spread", [1e-5, 1.0, 30.0])
def test_the_bound_lies_above_the_loss_and_touches_it(loss: Loss, spread: float) -> None:
    m = 1 if loss.name == "logistic" else 3
    y = target_for(loss, rows(500, m, seed=3))
    at, to = spread * rows(500, m, seed=4), spread * rows(500, m, seed=5)
    at[:5] = torch.tensor([0.0, 1e-300, 1e-5, -9.9e-5, 1.01e-4], dtype=torch.float64).unsqueeze(-1)
    response, weight = loss.bound(at, y)
    assert weight.shape in ((500,), (1, 500))
    above = total(loss, at, y) + weight * ((to - response).square() - (at - response).square()).sum(-1)
    slack = 1e-9 * (1 + total(loss, at, y) + to.square().sum(-1) + at.square().sum(-1))
    assert (above >= total(loss, to, y) - slack).all()
    # The same value, by construction, and the same slope.
    slope = 2 * weight.reshape(-1, 1) * (at - response)
    torch.testing.assert_close(slope, loss.slopes(at, y), rtol=1e-9, atol=1e-9)
    # No wider than the bound that knows the largest curvature alone.
    assert loss.curvature is not None
    assert (weight <= loss.curvature / 2 + 1e-12).all()


@pytest.mark.parametrize("loss", EVERY)
def test_the_constant_is_the_best_one(loss: Loss) -> None:
    _, y = case(loss, n=60)
    weight = rows(60, 1, seed=8).abs()[:, 0]
    shares = torch.nn.functional.one_hot(y).double() if loss.name == "softmax" else y
    found = loss.constant(shares, weight)
    assert found.shape == (3,)
    best = loss.deviance(found.expand(60, 3), y, weight)
    assert best == pytest.approx(float((weight * loss.rows(found.expand(60, 3), y)).sum() / weight.sum()))
    for unit in torch.eye(3, dtype=torch.float64):
        for step in (1e-3, -1e-3, 0.3):
            assert loss.deviance((found + step * unit).expand(60, 3), y, weight) > best


@pytest.mark.parametrize("loss", EVERY)
def test_a_loss_is_a_small_value(loss: Loss) -> None:
    assert pickle.loads(pickle.dumps(loss)) == loss
    assert hash(loss) == hash(type(loss)(*(vars(loss)[f.name] for f in fields(loss))))
    assert loss_named(loss) is loss


def test_losses_are_found_by_their_names() -> None:
    assert [loss_named(name).name for name in LOSSES] == list(LOSSES) == ["squared", "logistic", "softmax", "huber"]
    with pytest.raises(ValueError, match="loss must be one of 'squared', 'logistic', 'softmax', 'huber'; got 'hinge'"):
        loss_named("hinge")


def test_targets_take_the_form_that_the_loss_reads() -> None:
    def coded(loss: str, y: torch.Tensor, n: int, m: int, dtype: torch.dtype) -> torch.Tensor:
        return loss_and_targets(loss, y, n, m, dtype)[1]

    assert coded("squared", torch.tensor([1, 2]), 2, 1, torch.float64).tolist() == [[1.0], [2.0]]
    assert coded("squared", torch.tensor([1, 2]), 2, 1, torch.float32).dtype == torch.float32
    assert coded("logistic", torch.tensor([[True, False]]), 1, 2, torch.float32).tolist() == [[1.0, 0.0]]
    classes = coded("softmax", torch.tensor([2, 0], dtype=torch.uint8), 2, 3, torch.float32)
    assert classes.dtype == torch.int64
    assert classes.tolist() == [2, 0]


@pytest.mark.parametrize(
    ("loss", "y", "outputs", "sentence"),
    [
        ("hinge", torch.zeros(3), 1, "loss must be one of 'squared', .* got 'hinge'"),
        ("squared", torch.zeros(4), 1, r"y must have shape \(3, 1\) or \(3,\); got shape \(4,\)"),
        ("squared", torch.zeros(3), 2, r"y must have shape \(3, 2\); got shape \(3,\)"),
        ("squared", torch.tensor([0.0, math.nan, 1.0]), 1, "y must be finite; got NaN or infinity"),
        ("huber", torch.tensor([0.0, math.inf, 1.0]), 1, "y must be finite; got NaN or infinity"),
        ("logistic", torch.tensor([0.0, 1.0, 2.0]), 1, "y must hold only 0 and 1 for the loss 'logistic'; got 0 to 2"),
        ("logistic", torch.tensor([0.0, 1.0, math.nan]), 1, "y must hold only 0 and 1"),
        (
            "softmax",
            torch.zeros(3),
            2,
            r"one whole number per row, shape \(3,\), .*; got shape \(3,\) of torch.float32",
        ),
        ("softmax", torch.zeros(3, 1, dtype=torch.int64), 2, r"whole number per row.*got shape \(3, 1\)"),
        ("softmax", torch.tensor([0, 1, 2]), 2, r"y must be in 0, \.\.\., 1, one class per output; got 0 to 2"),
        ("softmax", torch.tensor([0, 1, -1]), 2, "got -1 to 1"),
    ],
)
def test_targets_that_do_not_fit_are_refused(loss: str, y: torch.Tensor, outputs: int, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        loss_and_targets(loss, y, 3, outputs, torch.float64)


@pytest.mark.parametrize("loss", EVERY)
def test_predicted_means_undo_the_link(loss: Loss) -> None:
    outputs = rows(50, 3)
    means = loss.mean(outputs)
    torch.testing.assert_close(loss.mean(loss.link(means)), means, rtol=1e-12, atol=1e-12)
    # Nothing else loses less where the targets have this mean.
    slopes = loss.slopes(outputs, means)
    torch.testing.assert_close(slopes, torch.zeros_like(slopes), rtol=0, atol=1e-12)
