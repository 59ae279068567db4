import math

import pytest
import torch

from polyladder import LPNN, stack
from polyladder.training.gradient.model_batch import ModelBatch
from polyladder.training.gradient.train import Adam, train
from tests.oracles.plain_adam import plain_adam

N, D = 23, 3


def table(n: int = N, dtype: torch.dtype = torch.float64) -> tuple[torch.Tensor, torch.Tensor]:
    g = torch.Generator().manual_seed(5)
    x = torch.randn(n, D, generator=g, dtype=torch.float64)
    y = x[:, :1] * x[:, 1:2] - 0.5 * x[:, 2:] + 0.1 * torch.randn(n, 1, generator=g, dtype=torch.float64)
    return x.to(dtype), y.to(dtype)


def grid(batch_shape: tuple[int, ...] = (3,), m: int = 1, batch_norm: bool = True, dropout: float = 0.0) -> LPNN:
    return LPNN(
        D, (4, 3), m, batch_norm=batch_norm, dropout=dropout, batch_shape=batch_shape, seed=11, dtype=torch.float64
    )


def same_state(one: torch.nn.Module, other: torch.nn.Module, rtol: float = 1e-9) -> None:
    expected = other.state_dict()
    for name, value in one.state_dict().items():
        torch.testing.assert_close(value, expected[name], rtol=rtol, atol=rtol, msg=lambda m, name=name: f"{name}: {m}")


def targets_for(loss: str, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, int]:
    if loss == "squared":
        return torch.cat([y, y.square()], 1), 2
    if loss == "logistic":
        return torch.cat([y > 0, x[:, :1] > 0.3], 1).double(), 2
    return (y.squeeze(1) > 0).long() + (x[:, 0] > 0.5).long(), 3


@pytest.mark.parametrize("loss", ["squared", "softmax", "logistic"])
@pytest.mark.parametrize(
    "options",
    [
        Adam(epochs=3, batch_size=8, learning_rate=0.02),
        Adam(epochs=2, batch_size=40, learning_rate=0.02, l2=0.03),
        Adam(epochs=3, batch_size=N, learning_rate=0.05, l2=0.01, schedule="cosine", clip=0.2),
    ],
)
def test_a_single_model_trains_as_by_an_ordinary_loop(loss, options):
    x, y = table()
    y, m = targets_for(loss, x, y)
    net, plain = grid((), m), grid((), m)
    history = train(net, x, y, loss=loss, options=options, seed=7)
    expected = plain_adam(
        plain,
        x,
        y,
        loss,
        7,
        options.epochs,
        options.batch_size,
        options.learning_rate,
        options.l2,
        options.schedule,
        options.clip,
    )
    # clip_grad_norm_ adds 1e-6 to the norm.
    same_state(net, plain, rtol=1e-5 if options.clip else 1e-9)
    torch.testing.assert_close(history.training_loss, torch.tensor(expected, dtype=torch.float64), rtol=1e-5, atol=0)
    assert not net.training
    assert all(p.grad is None for p in net.parameters())


@pytest.mark.slow
@pytest.mark.parametrize("batch_norm", [False, True])
def test_each_model_of_a_grid_trains_as_if_alone(batch_norm, monkeypatch):
    """Other seeds, rates, penalties, clipping, row counts (also of other numbers of steps), patience."""
    x, y = table()
    folds = [torch.arange(0, 16), torch.arange(2, 19), torch.arange(5, 22), torch.tensor([1, 7, 8]), torch.arange(23)]
    held_out = [torch.arange(16, 23), torch.arange(0, 2), torch.tensor([22]), torch.arange(9, 23), torch.arange(4)]
    values = {
        "learning_rate": [0.03, 0.3, 0.003, 0.01, 0.02],
        "l2": [0.0, 0.1, 0.01, 0.0, 0.001],
        "clip": [0.1, 1.0, 100.0, 0.5, 2.0],
    }
    seeds = [4, 4, 9, 0, 123]
    together = grid((5,), batch_norm=batch_norm)
    alone = [together[i] for i in range(5)]
    whole, left = ModelBatch.part, []
    monkeypatch.setattr(ModelBatch, "part", lambda fleet, models: left.append(len(models)) or whole(fleet, models))
    fixed = {"epochs": 12, "batch_size": 8, "schedule": "cosine", "patience": 2}
    history = train(
        together,
        x,
        y,
        options=Adam(**fixed, **{k: torch.tensor(v, dtype=torch.float64) for k, v in values.items()}),
        rows=folds,
        validation=held_out,
        seed=seeds,
    )
    for i, net in enumerate(alone):
        options = Adam(**fixed, **{k: v[i] for k, v in values.items()})
        own = train(net, x, y, options=options, rows=folds[i], validation=held_out[i], seed=[seeds[i]])
        same_state(together[i], net, rtol=1e-8)
        epochs = int(own.steps)
        assert history.steps[i] == epochs
        assert history.best[i] == own.best
        assert history.stopped[i] == own.stopped
        torch.testing.assert_close(history.training_loss[i, :epochs], own.training_loss, rtol=1e-8, atol=0)
        torch.testing.assert_close(history.validation_loss[i, :epochs], own.validation_loss, rtol=1e-8, atol=0)
        assert history.training_loss[i, epochs:].isnan().all()
    assert len(set(history.steps.tolist())) > 2, "the models were meant to stop at different epochs"
    assert left, "half the models stopped early, so the rest were meant to go on in a smaller batch"


def test_a_batch_of_two_dimensions_is_its_flattened_self():
    x, y = table()
    rates = torch.tensor([[0.01, 0.02, 0.03], [0.04, 0.05, 0.06]])
    rows = torch.stack([torch.randperm(N, generator=torch.Generator().manual_seed(i))[:15] for i in range(6)])
    square = grid((2, 3))
    flat = stack([square[i, j] for i in range(2) for j in range(3)])
    one = train(square, x, y, options=Adam(epochs=2, learning_rate=rates), rows=rows.view(2, 3, 15), seed=3)
    two = train(flat, x, y, options=Adam(epochs=2, learning_rate=rates.flatten()), rows=list(rows), seed=3)
    assert torch.equal(one.training_loss.flatten(0, 1), two.training_loss)
    assert torch.equal(square.readout.flatten(0, 1), flat.readout)
    assert one.steps.shape == (2, 3)


@pytest.mark.parametrize("dropout", [0.0, 0.3])
def test_divergence_of_one_model_leaves_the_others_bit_for_bit(dropout):
    x, y = table(dtype=torch.float32)
    # Weights of 1e15 overflow float32 in the variance of the first batch norm.
    rates = torch.tensor([0.01, 1e15, 0.02])
    nets, sane = grid(dropout=dropout).float(), grid(dropout=dropout).float()
    history = train(nets, x, y, options=Adam(epochs=9, batch_size=8, learning_rate=rates))
    calm = torch.tensor([0.01, 0.01, 0.02])
    expected = train(sane, x, y, options=Adam(epochs=9, batch_size=8, learning_rate=calm))
    assert history.diverged.tolist() == [False, True, False]
    assert not expected.diverged.any()
    for name, value in nets.state_dict().items():
        assert value.isfinite().all(), name
        assert torch.equal(value[[0, 2]], sane.state_dict()[name][[0, 2]]), name
    assert torch.equal(history.training_loss[[0, 2]], expected.training_loss[[0, 2]])
    assert history.steps.tolist() == [9, int(history.steps[1]), 9]
    assert history.steps[1] < 9
    assert history.training_loss[1, int(history.steps[1]) :].isnan().all()


def test_a_gradient_that_overflows_before_the_loss_does_is_divergence():
    """A loss of 1e38 fits into float32, its derivative of 2e39 does not."""
    nets = LPNN(1, (), 1, batch_shape=(2,), seed=0)
    with torch.no_grad():
        nets.readout.copy_(torch.tensor([0.1, 0.0]).view(2, 1, 1))
    history = train(nets, torch.full((4, 1), 1e20), torch.zeros(4), options=Adam(epochs=2, batch_size=1))
    assert history.diverged.tolist() == [True, False]
    assert torch.equal(nets.readout.flatten(), torch.tensor([0.1, 0.0]))
    assert history.steps.tolist() == [0, 2]


def test_a_diverged_model_keeps_its_best_validated_weights():
    x, y = table(dtype=torch.float32)
    nets = grid((2,), batch_norm=False).float()
    held_out = torch.arange(6)
    kept = []

    def progress(epoch, training, validation):
        kept.append((validation[0].item(), nets[0].state_dict()))
        if epoch == 3:
            with torch.no_grad():
                nets.readout[0].fill_(3e38)

    history = train(nets, x, y, options=Adam(epochs=6), validation=held_out, progress=progress)
    assert history.diverged.tolist() == [True, False]
    assert history.steps.tolist() == [3, 6]
    best = min(range(3), key=lambda e: kept[e][0])
    assert history.best[0] == best + 1
    assert torch.equal(nets.readout[0], kept[best][1]["readout"])


def test_early_stopping_keeps_the_best_epoch_and_its_batch_norm_statistics():
    x, y = table()
    nets, held_out = grid(), [torch.arange(7), torch.arange(3, 9), torch.arange(12, 23)]
    seen = []

    def progress(epoch, training, validation):
        seen.append({name: t.clone() for name, t in nets.state_dict().items()})

    history = train(
        nets,
        x,
        y,
        options=Adam(epochs=25, learning_rate=0.1, batch_size=8),
        validation=held_out,
        progress=progress,
    )
    assert history.steps.tolist() == [25] * 3
    assert not history.stopped.any()
    assert torch.equal(history.best, history.validation_loss.argmin(-1) + 1)
    assert (history.best < 25).any(), "a case in which the last epoch is always the best proves nothing"
    for i in range(3):
        best = seen[int(history.best[i]) - 1]
        for name, value in nets.state_dict().items():
            assert torch.equal(value[i], best[name][i]), name
        error = (nets[i](x[held_out[i]]) - y[held_out[i]]).square().mean()
        torch.testing.assert_close(error, history.validation_loss[i].min(), rtol=1e-10, atol=0)


def test_patience_counts_epochs_without_a_new_best():
    x, y = table()
    nets = grid((4,))
    history = train(
        nets, x, y, options=Adam(epochs=200, learning_rate=0.2, patience=3), validation=torch.arange(12), seed=1
    )
    assert history.stopped.all()
    assert torch.equal(history.steps, history.best + 3)
    assert history.training_loss.shape == (4, int(history.steps.max()))
    for i in range(4):
        curve = history.validation_loss[i, : int(history.steps[i])]
        assert curve.argmin() + 1 == history.best[i]


def test_models_that_share_validation_rows_are_measured_as_those_that_do_not():
    x, y = table()
    shared, apart = grid(), grid()
    one = train(shared, x, y, options=Adam(epochs=2), validation=torch.arange(9))
    two = train(apart, x, y, options=Adam(epochs=2), validation=[torch.arange(9), torch.arange(9), torch.arange(9)])
    torch.testing.assert_close(one.validation_loss, two.validation_loss, rtol=1e-12, atol=0)
    assert one.validation_loss.shape == (3, 2)


def test_the_cosine_schedule_ends_at_zero_and_starts_at_the_rate():
    """Full batches of a loss whose gradient keeps its sign: Adam then moves by the learning rate itself."""
    x, y = torch.zeros(4, 1, dtype=torch.float64), torch.full((4, 1), 1e6, dtype=torch.float64)
    net = LPNN(1, (), 1, dtype=torch.float64)
    offsets = [0.0]
    train(
        net,
        x,
        y,
        options=Adam(epochs=10, batch_size=4, learning_rate=0.5, schedule="cosine"),
        progress=lambda *_: offsets.append(net.offset.item()),
    )
    moves = torch.tensor(offsets).diff()
    expected = 0.5 * (1 + torch.cos(math.pi * torch.arange(10) / 10)) / 2
    torch.testing.assert_close(moves, expected, rtol=1e-3, atol=1e-6)


def test_sample_weights_are_repeated_rows():
    x, y = table()
    weight = torch.tensor([0, 1, 2, 3] * 6)[:N]
    repeated = torch.arange(N).repeat_interleave(weight)
    weighted, plain = grid((2,), batch_norm=False), grid((2,), batch_norm=False)
    # With full batches exactly, also in the validation loss.
    held_out = torch.arange(8, N)
    rows = torch.arange(8)
    options = Adam(epochs=5, batch_size=8, learning_rate=0.05)
    one = train(weighted, x, y, options=options, rows=rows, validation=held_out, sample_weight=weight.double())
    full = repeated[repeated < 8]
    two = train(
        plain,
        x,
        y,
        options=Adam(epochs=5, batch_size=len(full), learning_rate=0.05),
        rows=full,
        validation=repeated[repeated >= 8],
    )
    same_state(weighted, plain)
    torch.testing.assert_close(one.validation_loss, two.validation_loss, rtol=1e-9, atol=0)


@pytest.mark.slow
def test_the_penalty_is_that_of_ridge_regression_and_leaves_the_intercept_alone():
    x, y = table()
    x, y = x + 1, y + 5
    net = LPNN(D, (), 1, seed=0, dtype=torch.float64)
    train(net, x, y, options=Adam(epochs=300, learning_rate=0.3, l2=0.3, schedule="cosine", batch_size=N))
    centered, left = x - x.mean(0), y - y.mean(0)
    ridge = torch.linalg.solve(centered.T @ centered / N + 0.3 * torch.eye(D), centered.T @ left / N)
    torch.testing.assert_close(net.readout.mT, ridge, rtol=1e-3, atol=0)
    torch.testing.assert_close(net.offset, (y - x @ ridge).mean(0), rtol=1e-3, atol=0)


def test_frozen_parameters_stay():
    x, y = table()
    net = grid()
    net.readout.requires_grad_(False)
    before = {name: p.clone() for name, p in net.named_parameters()}
    train(net, x, y, options=Adam(epochs=1))
    moved = {name for name, p in net.named_parameters() if not torch.equal(p, before[name])}
    assert moved == set(before) - {"readout"}


def test_dropout_is_repeatable_and_the_global_stream_is_untouched():
    x, y = table()
    nets = [grid(dropout=0.4) for _ in range(3)]
    torch.manual_seed(0)
    first = torch.rand(1)
    for net, seed in zip(nets, (1, 1, 2), strict=True):
        torch.manual_seed(0)
        train(net, x, y, options=Adam(epochs=2), seed=seed)
        assert torch.equal(torch.rand(1), first)
    assert torch.equal(nets[0].readout, nets[1].readout)
    assert not torch.equal(nets[0].readout, nets[2].readout)


@pytest.mark.parametrize("validated", [False, True])
def test_an_interrupt_keeps_what_is_there(validated):
    x, y = table()
    net = grid()

    def progress(epoch, *losses):
        if epoch == 2:
            raise KeyboardInterrupt

    options = {"validation": torch.arange(5) if validated else None, "progress": progress}
    history = train(net, x, y, on_interrupt="return", **options)
    passed_on = grid()
    with pytest.raises(KeyboardInterrupt):
        train(passed_on, x, y, **options)
    expected = grid()
    train(expected, x, y, options=Adam(epochs=2), validation=torch.arange(5) if validated else None)
    assert history.interrupted
    assert history.steps.tolist() == [2] * 3
    assert history.training_loss.shape == (3, 2)
    for interrupted in (net, passed_on):
        assert not interrupted.training
        assert all(p.grad is None for p in interrupted.parameters())
        same_state(interrupted, expected, rtol=0)


def test_an_interrupt_within_the_first_epoch_gives_an_empty_history():
    x, y = table()
    net = grid()

    def interrupt(*_):
        raise KeyboardInterrupt

    net.register_forward_pre_hook(interrupt)
    history = train(net, x, y, on_interrupt="return")
    assert history.interrupted
    assert history.training_loss.shape == (3, 0)
    assert history.steps.tolist() == [0] * 3


def test_rows_left_out_are_never_seen():
    x, y = table()
    spoiled = x.clone()
    spoiled[15:] = 1e3
    one, two = grid(), grid()
    train(one, x, y, options=Adam(epochs=3), rows=torch.arange(15))
    train(two, spoiled, y, options=Adam(epochs=3), rows=torch.arange(15))
    same_state(one, two, rtol=0)
    three = grid()
    train(three, x, y, options=Adam(epochs=3), validation=torch.arange(15, N))
    four = grid()
    train(four, x, y, options=Adam(epochs=3), rows=torch.arange(15), validation=torch.arange(15, N))
    same_state(three, four, rtol=0)


def bad(**changes):
    x, y = table()
    arguments = {"x": x, "y": y, "options": Adam(epochs=1)} | changes
    return train(grid(), arguments.pop("x"), arguments.pop("y"), **arguments)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"x": [[1.0]]}, "x must be a torch.Tensor; got list"),
        ({"x": torch.zeros(N, 2)}, r"x must have shape \(n, 3\), n > 0; got shape \(23, 2\)"),
        ({"x": torch.full((N, D), math.nan)}, "x must be finite; got NaN or infinity"),
        ({"y": torch.zeros(N, 2)}, r"y must have shape \(23, 1\) or \(23,\); got shape \(23, 2\)"),
        ({"y": torch.full((N,), math.inf)}, "y must be finite"),
        ({"on_interrupt": "ignore"}, "on_interrupt must be 'raise' or 'return'; got 'ignore'"),
        ({"loss": "hinge"}, "loss must be one of 'squared', 'logistic', 'softmax', 'huber'; got 'hinge'"),
        ({"loss": "logistic", "y": torch.arange(N)}, "y must hold only 0 and 1 for the loss 'logistic'; got 0 to 22"),
        ({"loss": "softmax"}, "y must hold one whole number per row"),
        ({"loss": "softmax", "y": torch.arange(N)}, r"y must be in 0, ..., 0, one class per output; got 0 to 22"),
        ({"rows": [torch.arange(3)]}, "rows must hold 3 vectors, one per model; got 1"),
        ({"rows": torch.zeros(2, 5).long()}, r"rows must have shape \(r,\) or \(3, r\); got shape \(2, 5\)"),
        ({"rows": torch.ones(N).bool()}, r"rows must be vectors of row numbers; got shape \(23,\) of torch.bool"),
        ({"rows": torch.tensor([N])}, "rows must be in 0, ..., 22, the rows of x; got 23 to 23"),
        ({"rows": torch.arange(0)}, "rows must name at least one row per model; got none"),
        ({"validation": torch.arange(N)}, "validation must leave rows to train on; got all 23"),
        ({"sample_weight": torch.ones(3)}, r"sample_weight must have shape \(23,\); got shape \(3,\)"),
        ({"sample_weight": -torch.ones(N)}, "sample_weight must be finite and not negative; got -1 to -1"),
        ({"sample_weight": torch.zeros(N)}, "sample_weight must be positive for some row of every model"),
        ({"seed": [1, 2]}, "seed must be one integer or 3 of them, one per model; got 2"),
        ({"options": Adam(patience=2)}, "patience must come with validation rows; got none"),
        ({"options": Adam(l2=-1.0)}, r"l2 must be in \[0, inf\); got -1"),
        ({"options": Adam(learning_rate=torch.ones(2))}, r"learning_rate must be one number or have shape \(3,\)"),
        ({"options": Adam(clip=math.nan)}, r"clip must be in \[0, inf\); got nan"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(changes, sentence):
    with pytest.raises((ValueError, TypeError), match=sentence):
        bad(**changes)


def test_a_network_with_nothing_to_train_is_refused():
    x, y = table()
    with pytest.raises(ValueError, match="net must have a parameter to train; got none that requires a gradient"):
        train(grid().requires_grad_(False), x, y)


@pytest.mark.parametrize(
    ("option", "sentence"),
    [
        ({"epochs": 0}, "epochs must be a positive integer; got 0"),
        ({"batch_size": 2.5}, "batch_size must be a positive integer; got 2.5"),
        ({"patience": -1}, "patience must be a positive integer; got -1"),
        ({"schedule": "linear"}, "schedule must be 'constant' or 'cosine'; got 'linear'"),
    ],
)
def test_bad_options_are_refused_when_they_are_made(option, sentence):
    with pytest.raises(ValueError, match=sentence):
        Adam(**option)
