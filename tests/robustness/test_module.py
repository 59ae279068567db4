import numpy as np
import pytest
import torch

from polyladder import attack, certify_margins, to_module
from tests.ladders import random_ladder, rows

WHY = "the attack library is not installed: pip install 'polyladder[attacks]'"


def test_the_module_is_the_ladder() -> None:
    p, x = random_ladder(4, (5, 5), 3), rows(6, 4)
    module = to_module(p)
    assert torch.equal(module(x), p(x))
    assert torch.equal(module(x.view(6, 2, 2)), p(x))
    assert next(module.buffers()).dtype == torch.float64
    assert not list(module.parameters())
    odds = to_module(random_ladder(4, (5, 5), 1))
    assert torch.equal(odds(x)[:, 1:], random_ladder(4, (5, 5), 1)(x))
    assert (odds(x)[:, 0] == 0).all()
    assert to_module(random_ladder(4, (5, 5), 1), logits=False)(x).shape == (6, 1)


def test_what_is_refused() -> None:
    with pytest.raises(ValueError, match=r"single ladder; got batch_shape \(2,\)"):
        to_module(random_ladder(batch_shape=(2,)))
    with pytest.raises(TypeError, match="model must be a LadderPolynomial; got int"):
        to_module(3)  # type: ignore[arg-type]


@pytest.mark.parametrize("m", [1, 4])
def test_foolbox_attacks_it_and_never_breaks_a_certificate(m: int) -> None:
    foolbox = pytest.importorskip("foolbox", reason=WHY)
    p = random_ladder(6, (8, 8), m, dtype=torch.float32)
    x = torch.rand(40, 6, generator=torch.Generator().manual_seed(0))
    module = to_module(p)
    y = module(x).argmax(-1)
    model = foolbox.PyTorchModel(module, bounds=(-1, 2))
    assert foolbox.accuracy(model, x, y) == 1.0
    _, (moved,), (success,) = foolbox.attacks.LinfPGD(steps=20)(model, x, y, epsilons=[0.2])
    assert ((moved - x).abs() <= 0.2 + 1e-6).all()
    assert success.any()
    assert not (success & (certify_margins(p, x, y, 0.2 + 1e-6) < 0)).any()
    ours = attack(p, x, y, 0.2, certificate=False)
    assert ours.success.sum() >= success.sum()


def test_art_attacks_it_and_never_breaks_a_certificate() -> None:
    classification = pytest.importorskip("art.estimators.classification", reason=WHY)
    evasion = pytest.importorskip("art.attacks.evasion", reason=WHY)
    p = random_ladder(6, (8, 8), 4, dtype=torch.float32)
    x = torch.rand(40, 6, generator=torch.Generator().manual_seed(0))
    y = p(x).argmax(-1)
    model = classification.PyTorchClassifier(
        to_module(p), loss=torch.nn.CrossEntropyLoss(), input_shape=(6,), nb_classes=4, device_type="cpu"
    )
    assert np.allclose(model.predict(x.numpy()), p(x).numpy(), atol=1e-5)
    tried = evasion.ProjectedGradientDescent(model, eps=0.2, eps_step=0.02, max_iter=20, verbose=False)
    moved = torch.from_numpy(tried.generate(x.numpy(), y.numpy()))
    success = p(moved).argmax(-1) != y
    assert success.any()
    assert not (success & (certify_margins(p, x, y, 0.2 + 1e-6) < 0)).any()
