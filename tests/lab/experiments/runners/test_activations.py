import numpy as np
import torch

from polyladder import LPNN
from polyladder_lab.experiments.engine.plan import measurement
from polyladder_lab.experiments.runners.activations import responses, rounded, run_activations
from tests.lab.experiments.small import TEXT, small

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


def test_four_digits_are_kept():
    assert rounded(torch.tensor([1.23456, -1234567.0, 0.0, 1e-9], dtype=torch.float64)) == [
        1.235,
        -1235000.0,
        0.0,
        1e-9,
    ]
