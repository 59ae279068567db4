import numpy as np
import torch

from polyladder.estimators.first_files import SCALES, as_now
from polyladder.estimators.targets import ClassTarget, NumberTarget

OLD = "polyladder.estimators.ladder.LPNNRegressor"


def test_what_is_written_now_is_left_alone() -> None:
    state = {"_support": 1, "_encoder": 2, "categorical_": 3, "features_": 4}
    assert as_now("LPNNRegressor", state) is state
    assert as_now("os.system", state) is state
    assert as_now("polyladder.estimators.ladder.Later", state) is state


def test_old_attributes_have_their_new_names() -> None:
    state = {"_support": 1, "_varying": 2, "_encoded": 3, "order": 4}
    assert as_now(OLD, state) == {"support_": 1, "varying_": 2, "encoded_": 3, "order": 4}
    assert "_support" in state
    assert as_now("polyladder.data.features.Features", {"categorical_": (1,)}) == {"categorical_": (1,)}
    assert as_now(OLD, {"features_": 1, "categorical_": (1,)}) == {"features_": 1}


def test_what_is_made_now_is_dropped() -> None:
    for name in (OLD, "LPNNRegressor", "LPNNClassifier"):
        assert as_now(name, {"polynomial_": 1, "members_": 2}) == {"members_": 2}
    for name in ("polyladder.estimators.ladder.Support", "Support"):
        assert as_now(name, {"gram": 1, "factor": 2}) == {"factor": 2}
    assert as_now("PolynomialKernelRegressor", {"polynomial_": 1}) == {"polynomial_": 1}


def test_scales_become_a_target() -> None:
    values = [torch.tensor([float(i)]) for i in range(4)]
    found = as_now(OLD, {**dict(zip(SCALES, [*values, True], strict=True)), "order": 3})
    assert set(found) == {"target_", "order"}
    target = found["target_"]
    assert isinstance(target, NumberTarget)
    assert [target.mean, target.scale, target.low, target.high, target.flat] == [*values, True]


def test_an_encoder_becomes_a_target_of_classes() -> None:
    labels = np.array(["a", "b"])
    found = as_now("polyladder.estimators.ladder.LPNNClassifier", {"_encoder": object(), "classes_": labels})
    assert set(found) == {"target_"}
    assert isinstance(found["target_"], ClassTarget)
    assert found["target_"].labels is labels
