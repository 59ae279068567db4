import numpy as np
import pytest
import torch
from scipy import stats

from polyladder import LPNN, GaussianWeights, merge, output_moments
from polyladder_lab.experiments.engine.plan import measurement
from polyladder_lab.experiments.runners.sampling import BINS, distance, run_sampling, sampled
from tests.lab.experiments.small import TEXT, small

MACHINE = 'network = { family = "machine", order = 2, rank = 2, l2 = 1e-4 }'


def test_distances_are_those_of_scipy_and_small_for_a_gaussian():
    random = np.random.default_rng(0)
    found = distance(random.normal(3, 2, 10_000), 3.0, 2.0)
    assert found["ks"] < 1.63 / 100
    assert abs(found["skewness"]) < 0.1
    assert abs(found["kurtosis"]) < 0.2
    assert len(found["histogram"]) == BINS
    skewed = random.exponential(1.0, 10_000)
    found = distance(skewed, 1.0, 1.0)
    # An exponential less its mean and the normal differ most at its lower end, where it has nothing yet.
    assert found["ks"] == pytest.approx(stats.norm.cdf(-1.0), abs=0.01)
    assert found["skewness"] == pytest.approx(2.0, abs=0.3)
    assert found["outside"] == int((skewed > 6).sum())


def test_samples_have_the_moments_that_the_formula_says():
    new = """sampling = { family = "ladder", hidden = [4, 4], inputs = 2, samples = 2000, variances = [0.01, 0.1] }"""
    d = small(TEXT.replace(MACHINE, new))
    result = run_sampling([measurement(d, d.columns[0], d.models[1], {}, 0, None)])[0][0]
    found = result.more["distributions"]
    assert [each["variance"] for each in found] == [0.01, 0.01, 0.1, 0.1]
    for each in found:
        assert abs(each["sampled_mean"] - each["mean"]) < 5 * each["standard_error_of_mean"]
        assert each["sampled_deviation"] == pytest.approx(each["deviation"], rel=0.2)
        assert sum(each["histogram"]) + each["outside"] == 2000


def test_sampling_in_parts_draws_no_part_twice():
    net = LPNN(2, (3,), 1, seed=0).double()
    weights = GaussianWeights(mean=merge(net), variance=0.1)
    x = torch.ones(1, 2, dtype=torch.float64)
    samples = sampled(weights, x, 1200, seed=0)
    assert samples.shape == (1200, 1)
    assert len(np.unique(samples)) == 1200
    assert samples.mean() == pytest.approx(float(output_moments(weights, x).mean), abs=0.2)
