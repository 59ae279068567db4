from dataclasses import replace

import numpy as np
import pytest
import torch

from polyladder_lab.datasets.dataset import load_dataset
from polyladder_lab.experiments.engine.plan import measurement
from polyladder_lab.experiments.runners.networks import (
    RESTART,
    build,
    predicted,
    prepared,
    prepared_tables,
    run_networks,
    solve_one,
    trained,
    widths,
)
from polyladder_lab.experiments.runners.sources import Fit, fits_of
from polyladder_lab.experiments.runners.tanh import TanhNetwork
from tests.lab.experiments.small import CLASSES, TEXT, small

FAMILIES = {
    "ladder": {"hidden": [3, 4]},
    "relu": {"hidden": [3, 4]},
    "quadratic": {"hidden": [3, 4]},
    "machine": {"order": 3, "rank": 2},
    "kernel": {"order": 3, "rank": 2},
    "tanh": {"units": 3},
}


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_builds_models_of_one_batch(family):
    net = build({"family": family, **FAMILIES[family]}, 5, 2, torch.zeros(3), [1, 2, 3])
    assert net.eval()(torch.zeros(7, 5)).shape == (3, 7, 2)
    with pytest.raises(ValueError, match="family must be ladder"):
        build({"family": "tree", "hidden": [1]}, 5, 2, torch.zeros(1), [0])


def test_a_kernel_may_have_directions_for_each_class():
    net = build({"family": "kernel", "order": 2, "rank": 3, "rank_per_class": True}, 5, 4, torch.zeros(1), [0])
    assert net.directions.shape == (1, 12, 5)


def test_widths_shrink_from_inputs_to_outputs():
    assert widths({"layers": 4, "shrink": 0.5}, 784, 10) == (397, 204, 107, 58)
    assert widths({"layers": 1, "shrink": 0.3}, 3, 1) == (2,)
    assert widths({"layers": 2, "width": 7}, 3, 1) == (7, 7)


def fit(features, target, classes=0):
    n = len(target)
    return Fit(features, target, classes, np.arange(0, n // 2), np.arange(n // 2, n), ("t", 0))


def test_scales_come_from_training_rows_alone():
    features = np.random.default_rng(0).normal(3, 2, (40, 3))
    features[:, 2] = 7.0
    features[30] = 1e3
    table = prepared(fit(features, features[:, 0]), "standard")
    inside = table.x[: table.count]
    assert inside[:, :2].mean(0).abs().max() < 1e-6
    assert inside[:, :2].std(0, correction=0).tolist() == pytest.approx([1, 1], abs=1e-5)
    assert (inside[:, 2] == 0).all()
    whole = prepared(fit(features, features[:, 0]), "whole").x[:20]
    assert (float(whole.mean()), float(whole.std(correction=0))) == pytest.approx((0, 1), abs=1e-5)
    ranged = prepared(fit(features, features[:, 0]), "range").x[:20]
    torch.testing.assert_close(ranged[:, :2].amax(0), torch.ones(2))
    torch.testing.assert_close(ranged[:, :2].amin(0), -torch.ones(2))
    clipped = prepared(fit(features, features[:, 0]), "clipped").x
    assert torch.equal(clipped, table.x.clip(-5, 5))
    assert float(clipped.max()) == 5 < float(table.x.max())
    assert torch.equal(prepared(fit(features, features[:, 0]), "none").x, torch.from_numpy(features).float())


def test_predictions_are_in_the_targets_units():
    features = np.random.default_rng(0).normal(size=(40, 2))
    target = 50 + 10 * features[:, 0]
    table = prepared(fit(features, target), "standard")
    net = TanhNetwork(2, 3, 1, (1,), seed=0)[0]
    with torch.no_grad():
        net.readout.zero_()
        net.offset.fill_(1.0)
    assert predicted(net, table.x, table) == pytest.approx(target[:20].mean() + target[:20].std())


@pytest.mark.slow
@pytest.mark.parametrize(("data", "model"), [("iris", "FM"), ("iris", "LPNN"), ("breast-cancer", "LPNN")])
def test_classes_are_learned(data, model):
    text = CLASSES.replace('data = "diabetes"', f'data = "{data}"')
    text = text.replace("epochs = 2", "epochs = 30").replace("batch_size = 64", "batch_size = 16")
    d = small(text.replace("rank = 2,", "rank = 2, one_versus_rest = true,"))
    chosen = next(m for m in d.models if m.name == model)
    result = run_networks([measurement(d, d.columns[0], chosen, {}, 0, None)])[0][0]
    assert result.value is not None
    assert result.value < 0.25
    assert result.more["rows"] == round(0.3 * len(load_dataset(data).target))


@pytest.mark.slow
@pytest.mark.parametrize("family", ["machine", "kernel"])
def test_exact_solves_reach_a_lower_training_error_than_gradient_steps(family):
    text = TEXT.replace(
        'network = { family = "machine", order = 2, rank = 2, l2 = 1e-4 }',
        f'network = {{ family = "{family}", order = 3, rank = 3, l2 = 1e-4, epochs = 50, solver = "SOLVER" }}',
    )
    errors = {}
    for solver in ("exact", "adam"):
        d = small(text.replace("SOLVER", solver))
        machine = d.models[1]
        measurements = [measurement(d, d.columns[0], machine, {}, split, None) for split in (0, 1)]
        fits = [each for m in measurements for each in fits_of(m)]
        tables = prepared_tables(fits, measurements[0].options)
        net, diverged = trained(measurements, [each.name for each in fits], tables)
        assert not any(diverged)
        errors[solver] = [
            float((net[i](t.x[: t.count])[:, 0] - t.y[: t.count]).square().mean().detach())
            for i, t in enumerate(tables.values())
        ]
    assert all(solved < stepped for solved, stepped in zip(errors["exact"], errors["adam"], strict=True))
    again = replace(measurements[0], options={**measurements[0].options, "solver": "exact", "restarts": 2})
    with pytest.raises(ValueError, match="restarts must be 1 where solver is 'exact'; got 2"):
        trained([again], [fits[0].name], tables)
    with pytest.raises(ValueError, match="machine or kernel alone; got 'ladder'"):
        solve_one(
            build({"family": "ladder", "hidden": [2]}, 3, 1, torch.zeros(1), [0])[0],
            *[torch.zeros(4, 3)] * 2,
            "squared",
            {"family": "ladder"},
        )


def test_the_best_of_several_restarts_by_training_loss_is_kept():
    d = small(TEXT.replace("hidden = [4] }", "hidden = [4], restarts = 3 }"))
    each = measurement(d, d.columns[0], d.models[0], {"l2": 1e-6, "dropout": 0.0}, 0, None)
    fit = fits_of(each)[0]
    tables = prepared_tables([fit], each.options)
    table = tables[fit.name]

    def training_error(net):
        return float((net[0](table.x[: table.count])[:, 0] - table.y[: table.count]).square().mean().detach())

    best, diverged = trained([each], [fit.name], tables)
    assert best.batch_shape == (1,)
    assert diverged == [False]
    once = replace(each, options={**each.options, "restarts": 1})
    starts = [replace(once, options={**once.options, "random_state": each.seed + RESTART * i}) for i in range(3)]
    errors = [training_error(trained([one], [fit.name], tables)[0]) for one in starts]
    assert len(set(errors)) == 3
    assert training_error(best) == pytest.approx(min(errors), rel=1e-4)
