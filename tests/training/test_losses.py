import math

import numpy as np
import pytest
import torch

from polyladder.training.losses import row_losses, targets
from tests.ladders import rows


def by_hand(loss: str, f: np.ndarray, y: np.ndarray) -> float:
    """The loss of one row with outputs f."""
    if loss == "squared":
        return float(np.mean((f - y) ** 2))
    if loss == "softmax":
        return math.log(sum(math.exp(v) for v in f)) - f[int(y)]
    return float(np.mean([-math.log(1 / (1 + math.exp(-v if t else v))) for v, t in zip(f, y, strict=True)]))


@pytest.mark.parametrize("loss", ["squared", "logistic", "softmax"])
@pytest.mark.parametrize("batch_shape", [(), (3,), (2, 3)])
@pytest.mark.parametrize("shared", [True, False])
def test_every_row_of_every_model(loss: str, batch_shape: tuple[int, ...], shared: bool) -> None:
    n, m = 5, 3
    f = 2 * rows(math.prod(batch_shape) * n, m).reshape(*batch_shape, n, m)
    y = rows(math.prod(batch_shape) * n, m, seed=2).reshape(*batch_shape, n, m)
    y = y.argmax(-1) if loss == "softmax" else (y > 0).double() if loss == "logistic" else y
    if shared:
        y = y[(0,) * len(batch_shape)]
    found = row_losses(loss, f, y)
    assert found.shape == (*batch_shape, n)
    wide = y.expand(*batch_shape, *y.shape[-1:]) if loss == "softmax" else y.expand(f.shape)
    for index in np.ndindex(*batch_shape, n):
        assert found[index].item() == pytest.approx(by_hand(loss, f[index].numpy(), wide[index].numpy()), rel=1e-12)


def test_sure_predictions_do_not_overflow() -> None:
    f = torch.tensor([[1000.0], [-1000.0]], dtype=torch.float64)
    assert row_losses("logistic", f, torch.tensor([[1.0], [1.0]], dtype=torch.float64)).tolist() == [0.0, 1000.0]


def test_targets_take_the_form_that_the_loss_reads() -> None:
    assert targets("squared", torch.tensor([1, 2]), 2, 1, torch.float64).tolist() == [[1.0], [2.0]]
    assert targets("squared", torch.tensor([1, 2]), 2, 1, torch.float32).dtype == torch.float32
    assert targets("logistic", torch.tensor([[True, False]]), 1, 2, torch.float32).tolist() == [[1.0, 0.0]]
    classes = targets("softmax", torch.tensor([2, 0], dtype=torch.uint8), 2, 3, torch.float32)
    assert classes.dtype == torch.int64
    assert classes.tolist() == [2, 0]


@pytest.mark.parametrize(
    ("loss", "y", "outputs", "sentence"),
    [
        ("hinge", torch.zeros(3), 1, "loss must be one of 'squared', 'logistic', 'softmax'; got 'hinge'"),
        ("squared", torch.zeros(4), 1, r"y must have shape \(3, 1\) or \(3,\); got shape \(4,\)"),
        ("squared", torch.zeros(3), 2, r"y must have shape \(3, 2\); got shape \(3,\)"),
        ("squared", torch.tensor([0.0, math.nan, 1.0]), 1, "y must be finite; got NaN or infinity"),
        ("squared", torch.tensor([0.0, math.inf, 1.0]), 1, "y must be finite; got NaN or infinity"),
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
        targets(loss, y, 3, outputs, torch.float64)  # type: ignore[arg-type]
