import pytest
import torch

from polyladder import certify_margins
from polyladder.robustness.region import Region
from tests.ladders import random_ladder, rows
from tests.robustness.cases import points_of
from tests.robustness.tables import classifier, mixed_table, moved


@pytest.mark.parametrize("norm", ["inf", 2])
def test_margins_hold_and_are_tighter_than_outputs_apart(norm: str) -> None:
    from polyladder import certify

    p, x = random_ladder(3, (5, 5), 4), rows(10, 3)
    y = p(x).argmax(-1)
    found = certify_margins(p, x, y, 0.2, norm=norm)  # type: ignore[arg-type]
    region = Region(x, torch.full_like(x, 0.2), norm)  # type: ignore[arg-type]
    f = p(points_of(region, 400).flatten(0, 1)).view(10, 400, 4)
    own = f.gather(-1, y.view(10, 1, 1).expand(-1, 400, 1))
    margin = (f - own).scatter(-1, y.view(10, 1, 1).expand(-1, 400, 1), -torch.inf).amax((-1, -2))
    assert (margin <= found).all()
    apart = certify(p, x, 0.2, norm=norm)  # type: ignore[arg-type]
    loose = apart.upper.scatter(1, y.unsqueeze(1), -torch.inf).amax(1) - apart.lower.gather(1, y.unsqueeze(1))[:, 0]
    assert (found <= loose + 1e-9).all()
    assert (found < loose - 1e-3).any()


def test_splitting_decides_every_row_of_a_small_ladder() -> None:
    p, x = random_ladder(3, (5, 5, 5), 3), rows(12, 3)
    y = p(x).argmax(-1)
    first, split = certify_margins(p, x, y, 0.7), certify_margins(p, x, y, 0.7, max_seconds=5.0)
    assert (split <= first).all()
    region = Region(x, torch.full_like(x, 0.7), "inf")
    classes = p(points_of(region, 4000).flatten(0, 1)).view(12, 4000, 3).argmax(-1)
    changed = (classes != y.unsqueeze(-1)).any(-1)
    assert not (changed & (split < 0)).any()
    assert ((split < 0) | changed).float().mean() > 0.9


def test_of_an_estimator() -> None:
    model, (X, _) = classifier(3), mixed_table()
    labels = model.predict(X[:20])
    bound = certify_margins(model, X[:20], labels, {"a": 0.1, "c": 0.02})
    around = model.predict(moved(X[:20], {"a": 0.1, "c": 0.02}, 100)).reshape(20, 100)
    stays = (around == labels[:, None]).all(1)
    assert (stays | (bound.numpy() >= 0)).all()
    assert (bound < 0).any()
    with pytest.raises(TypeError, match="got a mapping"):
        certify_margins(random_ladder(3), rows(1, 3), torch.tensor([0]), {"a": 1.0})


def test_no_rows_are_an_answer_too() -> None:
    p = random_ladder(3, (4,), 3)
    none = torch.zeros(0, dtype=torch.long)
    assert certify_margins(p, rows(2, 3)[:0], none, 0.1).shape == (0,)
