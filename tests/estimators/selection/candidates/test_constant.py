import numpy as np

from polyladder.estimators.selection.candidates.constant import best_constant
from polyladder.training.losses.huber import Huber
from polyladder.training.losses.logistic import Logistic
from tests.estimators.selection.candidates.few_rows import CLASSES, Y, outputs


def test_a_constant_has_the_share_of_the_class() -> None:
    found = best_constant(Logistic(), CLASSES, np.ones(60), "standard", 60)
    np.testing.assert_allclose(1 / (1 + np.exp(-found.left_out)), CLASSES.mean())
    np.testing.assert_allclose(outputs(found), found.left_out)


def test_the_constant_of_another_loss_is_its_own() -> None:
    gross = np.where(np.arange(60) % 10 == 0, 1e6, 0.0)[:, None] + Y
    found = best_constant(Huber((0.5,)), gross, np.ones(60), "standard", 7)
    assert found.left_out.shape == (7, 1)
    assert abs(found.offset[0] - np.median(gross)) < 0.5
