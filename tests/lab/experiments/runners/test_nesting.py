import pytest

from polyladder_lab.experiments.engine.plan import measurement
from polyladder_lab.experiments.runners.nesting import run_nesting
from tests.lab.experiments.small import TEXT, small

GROWN = TEXT.replace(
    '[[model]]\nname = "FFR"',
    '[[model]]\nname = "grown"\n'
    'nesting = { family = "ladder", width = 4, layers = 3, l2 = 1e-8, epochs = 5, batch_size = 64 }'
    '\n\n[[model]]\nname = "FFR"',
)


def test_another_layer_changes_nothing_and_then_only_helps_on_training_rows():
    d = small(GROWN)
    ((result,),) = run_nesting([measurement(d, d.columns[0], d.models[0], {}, 0, None)])
    depths = result.more["depths"]
    assert [each["layers"] for each in depths] == [1, 2, 3]
    assert all(each["changed"] < 1e-12 for each in depths)
    trained = [each["train"] for each in depths]
    assert trained == sorted(trained, reverse=True)
    assert trained[-1] < 0.99 * trained[0]
    # In units of the target, whose deviation is 77.
    assert 30 < trained[0] < 60
    assert result.value == pytest.approx(depths[-1]["test"])
