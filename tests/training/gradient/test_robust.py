import pytest
import torch
from torch import Tensor, nn

from polyladder import LPNN, Adam, Feedforward, Robust, certify_margins, merge, train
from polyladder.training.gradient.bounded import bounded_losses
from polyladder.training.gradient.robust import jacobian_norms, robust_losses
from polyladder.training.losses.softmax import Softmax
from tests.ladders import rows
from tests.oracles.jacobian import difference_jacobian
from tests.oracles.plain_adam import plain_adam


def digits(n: int = 200, d: int = 6) -> tuple[Tensor, Tensor]:
    """Three classes that a few inputs tell apart well and the others a little."""
    g = torch.Generator().manual_seed(0)
    y = torch.randint(0, 3, (n,), generator=g)
    centers = torch.randn(3, d, generator=g, dtype=torch.float64)
    return centers[y] + 0.35 * torch.randn(n, d, generator=g, dtype=torch.float64), y


def net(batch_shape: tuple[int, ...] = (), batch_norm: bool = False) -> LPNN:
    return LPNN(6, (8, 8), 3, batch_shape=batch_shape, batch_norm=batch_norm, seed=1, dtype=torch.float64)


@pytest.mark.parametrize("batch_norm", [False, True])
def test_the_penalty_is_that_of_exact_differences(batch_norm: bool) -> None:
    x, y = digits(40)
    trained = net(batch_norm=batch_norm)
    train(trained, x, y, loss="softmax", options=Adam(epochs=2))
    expected = [difference_jacobian(merge(trained), row).square().sum() for row in x[:5]]
    torch.testing.assert_close(jacobian_norms(trained, x[:5]), torch.stack(expected), rtol=1e-9, atol=0)


def test_training_with_the_penalty_is_that_of_an_ordinary_loop() -> None:
    x, y = digits(30)
    ours, plain = net(), net()

    def penalty(module: nn.Module, batch: Tensor) -> Tensor:
        leaf = batch.clone().requires_grad_()
        outputs = module(leaf)
        slopes = [torch.autograd.grad(outputs[:, j].sum(), leaf, create_graph=True)[0] for j in range(3)]
        return 0.3 * torch.stack(slopes).square().sum() / len(batch)

    options = Adam(epochs=3, batch_size=8, learning_rate=0.01, jacobian_penalty=0.3)
    history = train(ours, x, y, loss="softmax", options=options, seed=4)
    losses = plain_adam(plain, x, y, "softmax", 4, 3, 8, 0.01, extra=penalty)
    torch.testing.assert_close(history.training_loss, torch.tensor(losses, dtype=torch.float64))
    for one, other in zip(ours.parameters(), plain.parameters(), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("against", ["attack", "bound"])
def test_the_loss_is_a_mixture_of_both(against: str) -> None:
    x, y = digits(20)
    model = net((2,)).eval()
    radius = torch.tensor([0.1, 0.2], dtype=torch.float64)
    clean = robust_losses(model, Softmax(), None, x, y, radius)
    torch.testing.assert_close(clean, Softmax().rows(model(x), y))
    worst, mixed = (
        robust_losses(model, Softmax(), Robust(0.0, against, share=share), x, y, radius)  # type: ignore[arg-type]
        for share in (1.0, 0.25)
    )
    assert (worst > clean).all()
    torch.testing.assert_close(mixed, 0.25 * worst + 0.75 * clean)
    if against == "bound":
        torch.testing.assert_close(worst, bounded_losses(merge(model), Softmax(), x, y, radius.view(2, 1, 1)))


@pytest.mark.parametrize("against", ["attack", "bound"])
@pytest.mark.parametrize("batch_norm", [False, True])
def test_each_model_of_a_grid_trains_as_if_alone(against: str, batch_norm: bool) -> None:
    x, y = digits(40)
    held = torch.arange(30, 40)

    def run(models: LPNN, radius: float | Tensor, penalty: float | Tensor, seed: list[int]) -> Tensor:
        robust = Robust(radius, against, share=0.5, warmup=2)  # type: ignore[arg-type]
        options = Adam(epochs=3, batch_size=16, learning_rate=0.01, jacobian_penalty=penalty, robust=robust)
        return train(models, x, y, loss="softmax", options=options, validation=held, seed=seed).validation_loss

    start = net((2,), batch_norm)
    alone = [start[0], start[1]]
    radii, penalties = torch.tensor([[0.02, 0.1], [0.0, 0.05]], dtype=torch.float64)
    curves = run(start, radii, penalties, [3, 4])
    for i, (radius, penalty) in enumerate([(0.02, 0.0), (0.1, 0.05)]):
        curve = run(alone[i], radius, penalty, [3 + i])
        torch.testing.assert_close(curves[i], curve, rtol=1e-8, atol=1e-10)
        for one, other in zip(start[i].parameters(), alone[i].parameters(), strict=True):
            torch.testing.assert_close(one, other, rtol=1e-7, atol=1e-9)


@pytest.mark.slow
def test_more_rows_are_certified_after_training_for_it() -> None:
    x, y = digits()
    radius = 0.3

    def certified(**options: object) -> float:
        model = net()
        chosen = Adam(epochs=40, batch_size=100, learning_rate=0.01, **options)  # type: ignore[arg-type]
        train(model, x, y, loss="softmax", options=chosen)
        return float((certify_margins(merge(model), x, y, radius) < 0).double().mean())

    plain = certified()
    assert certified(jacobian_penalty=0.05) > plain + 0.05
    assert certified(robust=Robust(radius)) > plain + 0.05
    assert certified(robust=Robust(radius, "bound", warmup=13)) > plain + 0.1


def test_what_cannot_be_is_refused() -> None:
    x, y = digits(20)
    for wrong in ({"against": "all"}, {"share": 0.0}, {"share": 1.5}, {"warmup": -1}, {"steps": 0}):
        with pytest.raises(ValueError, match=f"{next(iter(wrong))} must"):
            Robust(0.1, **wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="radius must be in"):
        train(net(), x, y, loss="softmax", options=Adam(robust=Robust(-0.1)))
    with pytest.raises(ValueError, match="jacobian_penalty must be in"):
        train(net(), x, y, loss="softmax", options=Adam(jacobian_penalty=-1.0))
    other = Feedforward(6, (4,), 3, dtype=torch.float64)
    for options in (Adam(robust=Robust(0.1)), Adam(jacobian_penalty=0.1)):
        with pytest.raises(TypeError, match="net must be an LPNN"):
            train(other, x, y, loss="softmax", options=options)
        with pytest.raises(ValueError, match="x must be dense"):
            train(net(), x.to_sparse_csr(), y, loss="softmax", options=options)


@pytest.mark.slow
def test_numbers_that_may_move_are_fitted_more_flatly() -> None:
    x = rows(100, 6)
    y = x[:, :1] * x[:, 1:2] + x[:, 2:3]
    slopes = []
    for options in (Adam(epochs=20), Adam(epochs=20, robust=Robust(0.5))):
        model = LPNN(6, (8, 8), 1, seed=1, dtype=torch.float64)
        train(model, x, y, options=options)
        slopes.append(float(jacobian_norms(model, x).detach().mean()))
    assert slopes[1] < 0.9 * slopes[0]
