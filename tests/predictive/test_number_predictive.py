import numpy as np
import pytest
import torch

from polyladder.predictive.number_predictive import NumberPredictive
from tests.predictive.predictives import NUMBERS


@pytest.mark.parametrize("said", NUMBERS.values(), ids=NUMBERS.keys())
def test_further_dimensions_of_targets_are_as_many_calls(said: NumberPredictive) -> None:
    y = np.stack([said.quantile(q) for q in (0.2, 0.5, 0.7, 0.9)]).reshape(2, 2, *said.mean.shape)
    for function in (said.pdf, said.cdf, said.crps):
        found = function(y)
        assert found.shape == y.shape
        np.testing.assert_allclose(found[1, 0], function(y[1, 0]))


def test_answers_have_the_shape_of_the_target() -> None:
    one, two = NUMBERS["mixture"], NUMBERS["mixture of two outputs"]
    for said, shape in ((one, (5,)), (two, (5, 2))):
        assert said.mean.shape == said.std.shape == said.quantile(0.3).shape == shape
        assert said.interval()[0].shape == said.crps(said.mean).shape == shape
        assert said.quantile(()).shape == (0, *shape)
        assert said.log_likelihood(torch.from_numpy(said.mean)).shape == (5,)
