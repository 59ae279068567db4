"""The page's mathematics, in Node, is that of Python."""

import numpy as np
import pytest
import torch
from scipy.optimize import brentq
from scipy.special import ndtr, stdtr

from polyladder import LadderPolynomial, LPNNRegressor, jacobian, line_polynomial
from polyladder.fitted.ramps import Ramps
from polyladder.report.payload import payload
from polyladder.training.gradient.bounded import reaches
from tests.fitted.test_values import with_gaps
from tests.ladders import random_ladder
from tests.report import models
from tests.report.node import run, run_twice


def close(found, expected, tolerance=1e-9):
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


def spec(ladder):
    weights = torch.cat(
        [t.flatten(1) for layer in ladder.layers() for t in layer] + [ladder.readout.flatten(1), ladder.offset], 1
    )
    return {
        "draws": len(ladder),
        "inputs": ladder.in_features,
        "hidden": list(ladder.hidden),
        "outputs": ladder.out_features,
        "weights": weights.flatten().tolist(),
    }


@pytest.mark.parametrize("hidden", [(), (3,), (4, 2, 3)])
def test_ladders_are_evaluated_differentiated_and_sliced(hidden):
    ladder = random_ladder(4, hidden, 2, batch_shape=(3,), seed=1)
    z = torch.tensor([0.3, -1.2, 0.7, 2.0], dtype=torch.float64)
    found = run(
        'import { evaluate, gradient, ladder, line } from "./ladder.js";',
        "(spec, z, base, direction) => { const m = ladder(spec);"
        " return [evaluate(m, z), gradient(m, z, 1), line(m, base, direction)].map((a) => Array.from(a)); }",
        spec(ladder),
        z.tolist(),
        *(t.tolist() for t in axis(z, 2)),
    )
    close(found[0], ladder(z.unsqueeze(0)).flatten())
    close(found[1], jacobian(ladder, z.unsqueeze(0))[:, 0, 1].flatten())
    close(found[2], line_polynomial(ladder, *axis(z, 2)).coefficients.flatten())


def test_functions_of_a_number_are_evaluated_with_their_slopes():
    written = ["*", ["-", ["sin", ["*", ["-", "x", -6.0], 0.25]], 0.1], ["-", 2.0, "x"]]
    imports = 'import { functionAt } from "./functions.js";'
    found = np.array(run(imports, "(f, xs) => xs.map((x) => functionAt(f, x))", written, [-3.0, 0.0, 5.5]))

    def value(x):
        return (np.sin((x + 6) * 0.25) - 0.1) * (2 - x)

    x, h = np.array([-3.0, 0.0, 5.5]), 1e-6
    close(found[:, 0], value(x))
    close(found[:, 1], (value(x + h) - value(x - h)) / (2 * h), 1e-7)
    held = run(
        imports, "(f, xs) => xs.map((x) => functionAt(f, x))", ["*", ["held", "x", -1.0, 2.0], 3.0], [-4.0, 1.5, 2.5]
    )
    assert held == [[-3.0, 0.0], [4.5, 3.0], [6.0, 0.0]]


@pytest.mark.slow
def test_times_of_day_are_written_as_in_the_table():
    imports = 'import { isTime, write } from "../charts/written.js";'
    function = "(columns) => columns.map((c) => [isTime(c), write(c, 0.572916666666)])"
    formats = ("%H:%M", "%d.%m.%Y %H:%M", "%d.%m.%Y")
    found = run(imports, function, [{"kind": "date", "date_format": each} for each in formats] + [{"kind": "number"}])
    assert found == [[True, "13:45"], [False, "01.01.1970 13:45"], [False, "01.01.1970"], [False, "0.5729"]]


def test_diagonal_layers_and_repeated_gates_are_written_short():
    slopes, diagonal = torch.randn(1, 3, 2, dtype=torch.float64), torch.randn(1, 3, dtype=torch.float64)
    gates, ones = torch.randn(1, 3, dtype=torch.float64), torch.ones(1, 1, 3, dtype=torch.float64)
    full = LadderPolynomial(
        W=(slopes, torch.diag_embed(diagonal)),
        b=(gates, diagonal),
        V=(slopes, slopes),
        c=(gates, gates),
        readout=ones,
        offset=ones[:, 0, :1],
    )
    short = torch.cat([slopes.flatten(), gates[0], slopes.flatten(), gates[0], diagonal[0], diagonal[0], torch.ones(4)])
    described = {**spec(full), "weights": short.tolist(), "diagonal": [False, True], "repeated": [False, True]}
    z = torch.tensor([[0.4, -1.1]], dtype=torch.float64)
    base, direction = axis(z[0], 1)
    found = run(
        'import { evaluate, gradient, ladder, line } from "./ladder.js";',
        "(spec, z, base, direction) => { const m = ladder(spec);"
        " return [evaluate(m, z), gradient(m, z, 0), line(m, base, direction)].map((a) => Array.from(a)); }",
        described,
        z[0].tolist(),
        base.tolist(),
        direction.tolist(),
    )
    close(found[0], full(z).flatten())
    close(found[1], jacobian(full, z).flatten())
    close(found[2], line_polynomial(full, base, direction).coefficients.flatten())


def test_the_curve_along_ramps_is_that_of_the_features():
    ladder = random_ladder(4, (3, 3), 1, batch_shape=(1,), seed=2)
    ramps = Ramps(np.array([0, 0]), np.array([-2.0, 0.5]), np.array([0.5, 2.0]), np.array([0.2, 0.6]), np.ones(2) / 2)
    column = {"kind": "numeric", "at": 0, "low": -2, "high": 2, "mean": 0, "scale": 1, "clip": True, "flag": None}
    shown = {name: vars(ramps)[name].tolist() for name in ("low", "high", "mean", "scale")}
    column["ramps"] = {"at": [2, 3], **shown}
    t = np.linspace(-2, 2, 401)
    rows = np.concatenate([t[:, None], np.full((401, 1), 0.3), ramps(t[:, None])], 1)
    expected = ladder(torch.from_numpy(rows))[0, :, 0].numpy()
    wanted = float(expected.mean())
    found, ends, values = run(
        'import { column } from "./columns.js";\nimport { curve, extremes, solve } from "./curve.js";\n'
        'import { ladder } from "./ladder.js";',
        "(spec, col, t, wanted) => { const rule = { task: 'regression', combine: 'mean', guard: null };"
        " const c = column(col); const along = curve(ladder(spec), rule, [0, 0.3, 0, 0], c, 0);"
        " return [t.map(along.value), extremes(along, c), solve(along, c, wanted, rule, 0)]; }",
        spec(ladder),
        column,
        t.tolist(),
        wanted,
    )
    close(found, expected)
    # Between the points of the grid the extremes may lie a little further out, never further in.
    assert ends["low"]["y"] <= expected.min() + 1e-12
    assert ends["high"]["y"] >= expected.max() - 1e-12
    close([ends["low"]["y"], ends["high"]["y"]], [expected.min(), expected.max()], 1e-2)
    signs = np.flatnonzero(np.diff(np.sign(expected - wanted)))
    assert len(values) == len(signs) >= 1
    close(values, t[signs], 0.02)


def axis(z, index):
    """The line through z along one input, from where that input is 0."""
    base, direction = z.clone(), torch.zeros_like(z)
    base[index], direction[index] = 0.0, 1.0
    return base, direction


@pytest.mark.parametrize("index", [0, 1, 2])
def test_extremes_and_wanted_values_are_those_of_the_line(index):
    ladder = random_ladder(3, (4, 3, 3), 1, batch_shape=(1,), seed=5)
    z = torch.tensor([0.4, -0.3, 0.9], dtype=torch.float64)
    line = line_polynomial(ladder[0], *axis(z, index))
    [low_t, low], [high_t, high] = ([float(v) for v in pair] for pair in (line.minimize(-2, 2), line.maximize(-2, 2)))
    wanted = (low + 2 * high) / 3
    column = {"kind": "numeric", "at": index, "low": -2, "high": 2, "mean": 0, "scale": 1, "clip": True}
    found, values = run(
        'import { column } from "./columns.js";\nimport { curve, extremes, solve } from "./curve.js";\n'
        'import { ladder } from "./ladder.js";',
        "(spec, z, col, wanted) => { const rule = { task: 'regression', combine: 'mean', guard: null };"
        " const c = column(col); const along = curve(ladder(spec), rule, z, c, 0);"
        " return [extremes(along, c), solve(along, c, wanted, rule, 0)]; }",
        spec(ladder),
        z.tolist(),
        column,
        wanted,
    )
    close([found["low"]["x"], found["low"]["y"]], [low_t, low], 1e-7)
    close([found["high"]["x"], found["high"]["y"]], [high_t, high], 1e-7)
    everywhere = np.polynomial.Polynomial(line.coefficients.flatten().numpy()) - wanted
    roots = everywhere.roots()
    close(values, sorted(r.real for r in roots if abs(r.imag) < 1e-9 and abs(r.real) <= 2), 1e-7)
    assert values


@pytest.mark.parametrize(
    ("wanted", "interval"),
    [
        ([-1.5, 0.25, 2.0], (-3, 3)),
        ([0.5, 0.5, 1.0], (0, 2)),
        ([-1.0, 0.0, 1.0, 2.0, 3.0, 4.0], (-0.5, 3.5)),
        ([7.0], (0, 1)),
    ],
)
def test_roots_are_found(wanted, interval):
    coefficients = np.polynomial.polynomial.polyfromroots(wanted).tolist()
    found = run('import { roots } from "./roots.js";', "roots", coefficients, *interval)
    close(found, sorted({r for r in wanted if interval[0] <= r <= interval[1]}), 1e-7)


def test_distributions_are_known():
    x, all_degrees = np.linspace(-9, 9, 61).tolist(), [3.0, 4.0, 10.0, 50.0]
    normal, student = run(
        'import { normal, student } from "./distributions.js";',
        "(x, all) => [x.map(normal), all.map((degrees) => x.map((v) => student(v, degrees)))]",
        x,
        all_degrees,
    )
    close(normal, ndtr(x), 1e-14)
    close(student, [stdtr(degrees, x) for degrees in all_degrees], 1e-10)


@pytest.mark.parametrize(("fine", "tolerance"), [(True, 1e-8), (False, 1e-3)])
def test_quantiles_of_a_mixture(fine, tolerance):
    means, scales, degrees = [-1.0, 0.5, 4.0], [0.3, 1.0, 0.5], [3.0, 10.0, 4.0]
    shares = [0.01, 0.05, 0.5, 0.95]
    found = run(
        'import { mixtureQuantile } from "./interval.js";',
        "(m, s, d, fine, shares) => shares.map((q) => mixtureQuantile(m, s, d, q, fine, 0))",
        *(means, scales, degrees, fine, shares),
    )

    def below(y):
        return np.mean(stdtr(degrees, (y - np.array(means)) / scales))

    close(found, [brentq(lambda y, q=q: below(y) - q, -50, 50, xtol=1e-13) for q in shares], tolerance)


def test_contours_of_a_saddle_lie_on_their_level():
    nodes = np.linspace(-1, 1, 8).tolist()
    lines = run(
        'import { contours } from "./contours.js";',
        "(nodes) => { const f = (x, y) => x * y; const along = nodes.map((y) => (x) => f(x, y));"
        " const grid = { xs: nodes, ys: nodes, along, upward: (c) => (y) => f(nodes[c], y),"
        " values: nodes.map((y) => nodes.map((x) => f(x, y))) }; return contours(grid, [0.01, 0.3], 1e-9); }",
        nodes,
    )
    ends = np.array(lines).reshape(-1, 2)
    products = ends.prod(1)
    close(np.minimum(abs(products - 0.01), abs(products - 0.3)), 0.0, 1e-8)
    # Both branches of both hyperbolas, and never a line across the saddle.
    assert {(x > 0, product < 0.1) for (x, _), product in zip(ends.tolist(), products.tolist(), strict=True)} == {
        (side, level) for side in (True, False) for level in (True, False)
    }
    assert all(line[0] * line[2] > 0 for line in lines)


def test_rows_with_gaps_in_a_constant_column_are_transformed_as_in_python():
    X, model = with_gaps()
    page = payload(model, X)
    rows = page["rows"]
    assert {row[1] for row in rows} == {None, 5.0}
    found = run(
        'import { column, transform } from "./columns.js";',
        "(columns, inputs, rows) => rows.map((row) => Array.from("
        "transform(columns.map(column), inputs, row.map((v) => v ?? Number.NaN))))",
        page["columns"],
        page["model"]["parts"][0]["inputs"],
        rows,
    )
    close(found, model.inputs(X))
    assert page["columns"][1]["start"] == 5.0
    assert page["strengths"]["pairs"] == []


def test_gaps_of_a_constant_column_have_their_contribution():
    X, model = with_gaps()
    page = payload(model, X)
    found = run(
        'import { column, transform } from "./columns.js";\nimport { contributions } from "./contributions.js";\n'
        'import { decode, ladder } from "./ladder.js";',
        "(page, row) => { const columns = page.columns.map(column); const model = ladder(page.model);"
        " const z = transform(columns, model.inputs, row.map((v) => v ?? Number.NaN));"
        " return contributions(model, columns, { ...page.way, start: decode(page.way.start) }, z, 0); }",
        page,
        page["rows"][0],
    )
    parts = model.explain(X).contributions
    close([part["value"] for part in found["parts"]], parts.values[0, :, 0])
    close(found["start"] + sum(part["value"] for part in found["parts"]), found["end"])
    assert [part["i"] for part in found["parts"]] == [0, 1]


def with_ramps():
    """Rows, a selected model with ramps that was fitted to them, and what its page carries."""
    rng = np.random.default_rng(0)
    X = rng.uniform(0.1, 4, size=(120, 2))
    y = np.floor(X[:, 0]) + np.log(X[:, 1])
    model = LPNNRegressor(effort="low", random_state=0, compact=False).fit(X, y)
    assert model.features_.ramps_ is not None
    carried = payload(model, X, y)
    return X, model, carried


@pytest.mark.slow
def test_a_selected_model_with_ramps_predicts_alike_on_the_page():
    _, model, carried = with_ramps()
    new = np.random.default_rng(1).uniform(0, 4.2, size=(9, 2))
    found = run(
        'import { column, transform } from "./columns.js";\nimport { ladder } from "./ladder.js";\n'
        'import { predict } from "./prediction.js";',
        "(data, rows) => { const [m, columns] = [ladder(data.model), data.columns.map(column)];"
        " return rows.map((row) => predict(m, data.rule, transform(columns, m.inputs, row), false).values[0]); }",
        {name: carried[name] for name in ("model", "columns", "rule")},
        new.tolist(),
    )
    close(found, model.predict(new), 1e-7)
    # Diagonal layers, repeated gates and padding are not carried.
    assert (
        sum(len(part["weights"]) for part in carried["model"]["parts"])
        < 0.5 * 8 * len(model.members_) * model.members_.n_weights
    )


@pytest.mark.slow
def test_contributions_through_ramps_sum_to_the_prediction():
    X, model, carried = with_ramps()
    found = run(
        'import { column, transform } from "./columns.js";\nimport { ladder } from "./ladder.js";\n'
        'import { contributions } from "./contributions.js";',
        "(data, row, start) => { const [m, columns] = [ladder(data.model), data.columns.map(column)];"
        " const way = { ...data.way, start: Float64Array.from(start) };"
        " const c = contributions(m, columns, way, transform(columns, m.inputs, row), 0);"
        " return [c.start + c.parts.reduce((sum, part) => sum + part.value, 0), c.end]; }",
        {name: carried[name] for name in ("model", "columns", "way")},
        [1.3, 2.2],
        model.inputs(X).mean(0).tolist(),
    )
    assert found[0] == pytest.approx(found[1])


@pytest.mark.parametrize("hidden", [(), (3,), (4, 2, 3)])
def test_how_far_a_polynomial_moves_is_that_of_python_and_holds(hidden):
    ladder = random_ladder(4, hidden, 2, batch_shape=(3,), seed=2)
    z = torch.tensor([[0.3, -1.2, 0.7, 2.0]], dtype=torch.float64)
    rng = np.random.default_rng(0)
    high = 0.2 * rng.random(4)
    low = -0.2 * rng.random(4)
    asked = 'import { ladder } from "./ladder.js";\nimport { swing } from "./swing.js";'
    function = "(spec, z, low, high) => swing(ladder(spec), z, low, high, 1)"
    found = run(asked, function, spec(ladder), z[0].tolist(), low.tolist(), high.tolist())
    moved = torch.as_tensor(rng.uniform(low, high, (500, 4)))
    moved[:250] = torch.as_tensor(np.where(rng.random((250, 4)) < 0.5, low, high))
    change = (ladder(z + moved) - ladder(z))[..., 1].mean(0)
    assert found["down"] <= change.min() + 1e-12
    assert change.max() <= found["up"] + 1e-12
    # Of one ladder, over a cube, it is the bound that ladders are trained with.
    one = spec(ladder[:1])
    cube = run(asked, function, one, z[0].tolist(), [-0.1] * 4, [0.1] * 4)
    reach = reaches(ladder[:1], z, torch.full((1, 1, 1), 0.1, dtype=torch.float64), ladder[:1].readout.unsqueeze(-3))
    close([cube["up"], -cube["down"]], [float(reach[0, 0, 1])] * 2)


@pytest.mark.slow
def test_what_several_columns_need_together():
    """Of the plane 3 x + 4 y, both moving by the same share, the change is known; a ramp's bend is seen."""
    plane = {"draws": 1, "inputs": 2, "hidden": [], "outputs": 1, "weights": [3, 4, 0]}
    plain = {"kind": "numeric", "clip": False, "mean": 0, "scale": 1, "shape": "standard", "low": -1, "high": 1}
    columns = [{**plain, "at": 0, "flag": None}, {**plain, "at": 1, "flag": None}]
    imports = (
        'import { column } from "./columns.js";\nimport { ladder } from "./ladder.js";\n'
        'import { provenShare, question, smallestChange } from "./together.js";'
    )
    rule = {"task": "regression", "combine": "mean", "guard": None}
    # The search is a promise, and so is what is printed.
    function = (
        "(spec, columns, rule, wanted, movable) => { const asked = question(ladder(spec), rule, columns.map(column),"
        " [0, 0], 0, wanted, movable); const found = {}; smallestChange(asked, () => {}).then((f) =>"
        " Object.assign(found, f)).then(() => console.log(JSON.stringify(found))); return provenShare(asked, 1); }"
    )
    proven, found = run_twice(imports, function, plane, columns, rule, 1.4, [0, 1])
    close([found["share"], proven], 0.1, 1e-6)
    close(found["values"], [0.2, 0.2], 1e-6)
    proven, found = run_twice(imports, function, plane, columns, rule, -1.5, [0])
    close([found["share"], proven, *found["values"]], [0.25, 0.25, -0.5, 0.0], 1e-6)
    proven, found = run_twice(imports, function, plane, columns, rule, 7.5, [0, 1])
    assert proven == 1
    close(found["closest"], 7.0)


@pytest.mark.slow
def test_half_widths_are_those_of_the_model():
    model, X, _ = models.make("spread")
    fitted = model.model_
    carried = payload(fitted)
    rows = models.some_rows(carried["columns"], 20)
    # Far beyond the training ranges the growth is held, too.
    rows += [[60.0, -40.0, 0, None], [0.0, None, 1, None], [-2.0, 900.0, 2, None]]
    table = fitted.read(models.as_rows(X, carried["columns"], rows))
    given = [[*map(float, z)] for z in fitted.inputs(table)]
    values = [[v if v is not None else "gap" for v in row] for row in rows]
    found = run(
        'import { halfWidths, spreadOf } from "./spread.js";',
        "(described, rows, inputs) => { const s = spreadOf(described); const gap = (v) => (v === 'gap' ? NaN : v);"
        " return rows.map((row, i) => halfWidths(s, row.map(gap), inputs[i], 0)); }",
        carried["spread"],
        values,
        given,
    )
    said = fitted.predict_distribution(table)
    expected = [(high - low) / 2 for low, high in (said.interval(level) for level in (0.5, 0.9))]
    close(found, np.stack(expected, 1))
    assert found[20][1] > 5 * found[21][1]
