import pytest
import torch
from torch.nn import functional as F

from polyladder import LPNN
from polyladder.training.gradient import validation as validation_module
from polyladder.training.gradient.data import checked_data
from polyladder.training.gradient.validation import ValidationRows
from tests.ladders import rows

X = rows(12, 3)


def expected_loss(net: LPNN, loss: str, y: torch.Tensor, held_out: torch.Tensor, weight: torch.Tensor) -> float:
    """One model, one row after another."""
    total, count = 0.0, 0.0
    for i in held_out.tolist():
        f = net(X[i : i + 1]).detach()
        value = F.cross_entropy(f, y[i : i + 1]) if loss == "softmax" else F.mse_loss(f, y[i : i + 1])
        total, count = total + weight[i].item() * value.item(), count + weight[i].item()
    return total / count


@pytest.mark.parametrize("loss", ["squared", "softmax"])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("chunk", [2**16, 4])
def test_every_model_is_measured_on_its_own_rows(
    loss: str, weighted: bool, shared: bool, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(validation_module, "EVALUATED_ROWS", chunk)
    net = LPNN(3, (4,), 2, batch_shape=(2, 2), seed=0, dtype=torch.float64).eval()
    y = rows(12, 2, seed=3)
    y = y.argmax(1) if loss == "softmax" else y
    weight = rows(12, 1, seed=4).abs()[:, 0] if weighted else None
    own = [torch.tensor(v) for v in ([0, 5, 7], [1], [2, 3, 4, 6, 8], [9, 9, 11])]
    held_out = own[0] if shared else own
    data = checked_data(net, loss, X, y, weight, torch.arange(12), held_out)
    found = ValidationRows.of(data).losses(net, data, torch.zeros(4))
    assert found.dtype == torch.float64
    for i in range(4):
        used = weight if weight is not None else torch.ones(12)
        expected = expected_loss(net[i // 2, i % 2], loss, y, own[0 if shared else i], used)
        assert found[i].item() == pytest.approx(expected, rel=1e-12)


def test_shared_rows_are_kept_once_and_short_ones_filled_up() -> None:
    net = LPNN(3, (4,), 1, batch_shape=(2,), seed=0)
    y = rows(12, 1, seed=3)
    shared = ValidationRows.of(checked_data(net, "squared", X, y, None, None, torch.tensor([3, 1])))
    assert shared.index.tolist() == [3, 1]
    own = [torch.tensor([3, 1]), torch.tensor([5])]
    each = ValidationRows.of(checked_data(net, "squared", X, y, None, None, own))
    assert each.index.tolist() == [[3, 1], [5, 5]]
    assert each.weight.tolist() == [[1.0, 1.0], [1.0, 0.0]]
