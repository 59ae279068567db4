import math

import pytest
import torch

from polyladder import LPNN
from polyladder.training.gradient.data import checked_data
from polyladder.training.gradient.model_batch import ModelBatch, by_model, copy_models, gradient
from polyladder.training.gradient.row_stream import RowStream
from polyladder.training.gradient.train import Adam, spread_settings
from polyladder.training.history import TrainingLog
from tests.ladders import rows

N = 12


def table() -> tuple[torch.Tensor, torch.Tensor]:
    x = rows(N, 3)
    return x, x[:, :1] * x[:, 1:2] - 0.5 * x[:, 2:] + 0.1 * rows(N, 1, seed=2)


def grid(batch_norm: bool = True, batch_shape: tuple[int, ...] = (3,)) -> LPNN:
    return LPNN(3, (4, 2), 1, batch_norm=batch_norm, batch_shape=batch_shape, seed=11, dtype=torch.float64)


def batch_of(net: LPNN, options: Adam, scale: float = 1.0, weight: torch.Tensor | None = None) -> ModelBatch:
    x, y = table()
    data = checked_data(net, "squared", x, scale * y, weight, None, None)
    stream = RowStream(data.rows, options.batch_size, [torch.Generator().manual_seed(i) for i in range(len(data.rows))])
    return ModelBatch(net, data, spread_settings(net, data, options, stream), stream)


def all_rows(models: int) -> torch.Tensor:
    return torch.arange(N, dtype=torch.int32).expand(models, N).contiguous()


@pytest.mark.parametrize("weighted", [True, False])
def test_a_step_is_one_of_torchs_optimizer_for_every_model(weighted: bool) -> None:
    """Rates and penalties of their own; intercepts, batch norm's included, are not penalized."""
    x, y = table()
    weight = rows(N, 1, seed=7).abs()[:, 0] if weighted else None
    rates, penalties = torch.tensor([0.1, 0.02, 0.005]), torch.tensor([0.0, 0.3, 0.1])
    nets, alone = grid(), [grid()[i] for i in range(3)]
    fleet = batch_of(nets, Adam(batch_size=N, learning_rate=rates, l2=penalties), weight=weight)
    nets.train()
    losses, finite = fleet.step(all_rows(3), torch.ones(3, dtype=torch.bool))
    assert finite.all()
    for i, net in enumerate(alone):
        optimizer = torch.optim.Adam(net.parameters(), lr=rates[i].item())
        errors = (net(x) - y).square()[:, 0]
        loss = (errors * (1 if weight is None else weight / weight.mean())).mean()
        matrices = [p for p in net.parameters() if p.dim() == 2]
        (loss + penalties[i] * sum(p.square().sum() for p in matrices)).backward()
        optimizer.step()
        torch.testing.assert_close(losses[i], loss.detach())
        for name, value in net.state_dict().items():
            torch.testing.assert_close(nets.state_dict()[name][i], value, rtol=1e-7, atol=1e-9, msg=name)


def test_clipping_bounds_each_models_gradient_by_itself() -> None:
    """After one step Adam's first moments are a tenth of the clipped gradients."""
    x, y = table()
    nets = grid(batch_norm=False)
    clip = torch.tensor([0.05, 1e9, 2.0])
    untouched = grid(batch_norm=False)
    norms = []
    for i in range(3):
        net = untouched[i]
        (net(x) - 100 * y).square().mean().backward()
        norms.append(torch.cat([p.grad.flatten() for p in net.parameters()]).norm())
    assert all(n > 2.0 for n in norms)
    fleet = batch_of(nets, Adam(batch_size=N, clip=clip), scale=100.0)
    fleet.step(fleet.stream.epoch()[0], torch.ones(3, dtype=torch.bool))
    first = torch.cat(fleet.adam.first, dim=1) / 0.1
    expected = torch.minimum(torch.stack(norms), clip.double())
    torch.testing.assert_close(first.norm(dim=1), expected, rtol=1e-9, atol=0)


def test_a_model_that_is_not_finite_or_waits_keeps_all_that_it_has() -> None:
    nets = grid()
    with torch.no_grad():
        nets.readout[1] = 1e200  # its squared error overflows
    before = {name: t.clone() for name, t in nets.state_dict().items()}
    fleet = batch_of(nets, Adam(batch_size=N, learning_rate=0.1))
    nets.train()
    losses, finite = fleet.step(all_rows(3), torch.tensor([True, True, False]))
    assert finite.tolist() == [True, False, True]
    assert not losses[1].isfinite()
    for name, value in nets.state_dict().items():
        assert torch.equal(value[1:], before[name][1:]), name
        assert name.endswith("rate") or not torch.equal(value[0], before[name][0]), name


def test_a_part_goes_on_as_within_the_whole() -> None:
    options = Adam(batch_size=5, learning_rate=0.05, epochs=4, schedule="cosine")
    whole, other = batch_of(grid(), options), batch_of(grid(), options)
    log, again = TrainingLog(3, False), TrainingLog(3, False)
    whole.epoch(log)
    other.epoch(again)
    part = other.part(torch.tensor([2, 0]))
    assert part.members.tolist() == [2, 0]
    whole.epoch(log)
    part.epoch(again)
    for name, value in part.net.state_dict().items():
        torch.testing.assert_close(value, whole.net.state_dict()[name][[2, 0]], rtol=1e-10, atol=1e-12)
    curves = [torch.stack(each.curves[0]) for each in (log, again)]
    torch.testing.assert_close(curves[1][:, [0, 2]], curves[0][:, [0, 2]])
    assert curves[1][1, 1].isnan()


def test_an_epoch_notes_the_mean_over_its_batches() -> None:
    nets = grid(batch_norm=False)
    fleet, log = batch_of(nets, Adam(batch_size=4, learning_rate=1e-300)), TrainingLog(3, False)
    x, y = table()
    expected = (nets(x) - y).square().mean((-1, -2)).detach()
    fleet.epoch(log)
    torch.testing.assert_close(log.latest((3,))[0], expected)
    assert log.steps.tolist() == [1, 1, 1]


def test_one_row_per_model_is_a_view() -> None:
    nets = grid(batch_shape=(2, 3))
    views = by_model(nets, nets.state_dict())
    assert {t.shape[0] for t in views.values()} == {6}
    views["readout"][4] = 7.0
    assert (nets.readout[1, 1] == 7.0).all()
    assert not (nets.readout[1, 2] == 7.0).any()


def test_models_are_copied_from_place_to_place() -> None:
    source = {"a": torch.arange(6.0).reshape(3, 2)}
    target = {"a": torch.zeros(4, 2)}
    copy_models(source, torch.tensor([2, 0]), target, torch.tensor([1, 3]))
    assert target["a"].tolist() == [[0, 0], [4, 5], [0, 0], [0, 1]]
    copy_models(source, torch.tensor([], dtype=torch.int64), target, torch.tensor([], dtype=torch.int64))
    assert target["a"].tolist() == [[0, 0], [4, 5], [0, 0], [0, 1]]


def test_a_parameter_that_the_loss_does_not_know_has_no_slope() -> None:
    used, unused = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    (math.pi * used).sum().backward()
    torch.testing.assert_close(gradient(used), torch.full((2,), math.pi))
    assert gradient(unused).tolist() == [0.0, 0.0]
