import numpy as np
import pytest
import torch

from polyladder import LPNN, merge
from polyladder_lab.experiments.engine.plan import measurement
from polyladder_lab.experiments.engine.rows import FIELDS
from polyladder_lab.experiments.runners.norms import norms, run_norms
from tests.lab.experiments.small import TEXT, small

MEASURED = TEXT.replace(
    '[[model]]\nname = "FFR"',
    '[[model]]\nname = "ladder"\nnorms = { family = "ladder", hidden = [4, 5] }\n\n[[model]]\nname = "FFR"',
)


def test_norms_are_the_largest_singular_values_of_the_merged_and_of_the_trained_weights():
    net = LPNN(3, (4, 5), 2, batch_norm=True, dtype=torch.float64, seed=0)
    net(torch.randn(50, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0)))
    found, merged = norms(net.eval()), merge(net)

    def largest(weight):
        # The root of the largest eigenvalue of W'W: no singular values.
        matrix = weight.detach().numpy()
        return np.sqrt(np.linalg.eigvalsh(matrix.T @ matrix).max())

    for name, weights in {"W": merged.W, "V": net.V, "trained_W": net.W, "readout": [merged.readout]}.items():
        assert found[name] == pytest.approx([largest(weight) for weight in weights], rel=1e-3)
    # Batch norm goes into the next weight: the first is as it was trained, the second is not.
    assert found["W"][0] == found["trained_W"][0]
    assert found["W"][1] != found["trained_W"][1]


@pytest.mark.slow
def test_the_ladders_of_a_group_are_measured_each_on_its_own_split():
    d = small(MEASURED)
    group = [measurement(d, d.columns[0], d.models[0], {}, split, None) for split in range(2)]
    (first,), (second,) = run_norms(group)
    assert first.value != second.value
    holds, _ = FIELDS["norms"]
    assert holds(first.more["norms"])
    assert first.more["norms"] != second.more["norms"]


def test_a_ladder_that_blew_up_has_no_norms():
    d = small(MEASURED.replace("learning_rate = 1e-2, clip = 10.0", "learning_rate = 1e30"))
    ((result,),) = run_norms([measurement(d, d.columns[0], d.models[0], {}, 0, None)])
    assert result.value is None
    assert "norms" not in result.more
