import numpy as np
import pytest
import torch
from scipy import stats

from polyladder import LPNN, GaussianWeights, output_moments
from polyladder.experiments.engine.plan import measurement
from polyladder.experiments.runners.activations import responses, run_activations
from polyladder.experiments.runners.sampling import BINS, distance, run_sampling, sampled
from tests.experiments.small import TEXT, small

MACHINE = 'network = { family = "machine", order = 2, rank = 2, l2 = 1e-4 }'


def test_responses_are_those_of_the_network_in_eval_mode():
    net = LPNN(3, (4, 5), 2, batch_norm=True, seed=0)
    x = torch.randn(50, 3)
    net(x)
    net.eval()
    layers = responses(net, x)
    assert [u.shape for u, _ in layers] == [(50, 4), (50, 5)]
    # Gates by hand: h / u = V x + c, whatever batch norm did to the weights.
    for l, (u, h) in enumerate(layers):
        gate = x.double() @ net.V[l].double().T + net.c[l].double()
        assert torch.allclose(h, u * gate)
    # The last layer's responses, read out, are the outputs: batch norm has gone into the next weights.
    norm = net.norms[-1]
    h = layers[-1][1]
    scale, shift = (t.double() for t in norm.affine())
    outputs = (h * scale + shift) @ net.readout.double().T + net.offset.double()
    assert torch.allclose(outputs, net(x.double()), atol=1e-8)


def test_activations_keep_units_and_rows():
    new = 'activations = { family = "ladder", hidden = [6, 5], rows = 20, units = 3 }'
    d = small(TEXT.replace(MACHINE, new))
    result = run_activations([measurement(d, d.columns[0], d.models[1], {}, 0, None)])[0][0]
    layers = result.more["layers"]
    assert [len(units) for units in layers] == [3, 3]
    assert all(len(unit["u"]) == len(unit["h"]) == 20 for units in layers for unit in units)
    assert all(np.std(unit["h"]) > 0 for units in layers for unit in units)


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
    from polyladder import merge

    weights = GaussianWeights(mean=merge(net), variance=0.1)
    x = torch.ones(1, 2, dtype=torch.float64)
    samples = sampled(weights, x, 1200, seed=0)
    assert samples.shape == (1200, 1)
    assert len(np.unique(samples)) == 1200
    assert samples.mean() == pytest.approx(float(output_moments(weights, x).mean), abs=0.2)
