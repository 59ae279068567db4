import numpy as np
import pytest

from polyladder import robustness_curve
from polyladder.robustness.curve import default_radii
from tests.robustness.tables import classifier, mixed_table, regressor


def test_errors_grow_with_the_radius_and_begin_at_the_models_own() -> None:
    X, y = mixed_table()
    model = regressor()
    curve = robustness_curve(model, X[:30], y[:30], [0.0, 0.02, 0.05])
    assert curve.measure == "mean absolute error"
    assert curve.attacked[0] == pytest.approx(np.abs(model.predict(X[:30]) - y[:30]).mean())
    assert curve.certified[0] == pytest.approx(curve.attacked[0])
    assert list(curve.attacked) == sorted(curve.attacked)
    assert all(c >= a for c, a in zip(curve.certified, curve.attacked, strict=True))


def test_of_classes_it_is_the_share_that_is_lost() -> None:
    X, _ = mixed_table()
    model = classifier(3)
    y = model.predict(X[:30])
    curve = robustness_curve(model, X[:30], y, [0.0, 0.1])
    assert curve.measure == "error rate"
    assert curve.attacked[0] == curve.certified[0] == 0
    assert 0 < curve.attacked[1] <= curve.certified[1] <= 1


def test_radii() -> None:
    assert default_radii(0.1, 3) == [0.0, 0.05, 0.1]
    with pytest.raises(ValueError, match="radii must hold at least one number"):
        robustness_curve(regressor(), *mixed_table(), [])
