"""One small ladder in the place of a large model: what it costs, when it is taken, and what is said of it."""

import math
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.datasets import make_friedman1
from torch import Tensor

import polyladder
from polyladder import LadderPolynomial, LPNNClassifier, LPNNRegressor
from polyladder.estimators import compact
from polyladder.estimators.compact import (
    EXACT,
    IN_A_FIT,
    JUDGED,
    LEAST_WEIGHT,
    Teacher,
    certainty,
    compacted,
    extra,
    fit_seconds,
    starts,
    weights_of,
)
from polyladder.polynomial.units import mean_of
from polyladder.polynomial.widen import widen
from polyladder.tables.table import Table, matrix_table
from polyladder.training.losses.logistic import Logistic
from polyladder.training.losses.loss import Loss
from polyladder.training.losses.softmax import Softmax
from polyladder.training.losses.squared import SQUARED
from polyladder.training.students.student import Form, Lesson
from polyladder.training.students.view import leading_view
from tests.estimators.test_store import damaged
from tests.ladders import random_ladder, rows

FAST = replace(IN_A_FIT, forms=(Form(3, 6), Form(4, 8)), points=1_000)


def teacher(members: int = 3, m: int = 1, error: float = 0.1, loss: Loss = SQUARED, seed: int = 0) -> Teacher:
    """The mean of random ladders over the unit cube, of which the first three inputs count."""
    z = torch.rand(150, 4, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)

    def inputs(table: Table) -> np.ndarray[Any, Any]:
        return table.numbers

    ladders = random_ladder(d=4, hidden=(12, 12), m=m, batch_shape=(members,), seed=seed)
    return Teacher(ladders, matrix_table(z.numpy()), z, inputs, lambda found: found, loss, error)


def shifted(ladder: LadderPolynomial, by: Tensor) -> LadderPolynomial:
    return replace(ladder, offset=ladder.offset + by)


# What a student costs


@pytest.mark.parametrize("size", [0.0, 0.03, 1.0])
def test_the_cost_of_squares_is_that_of_the_root(size: float) -> None:
    # A student that is the teacher and independent noise of size s adds s^2 to the mean square of new targets.
    its = teacher(members=1)
    noisy = shifted(its.members[0], torch.tensor([size], dtype=torch.float64))
    said = its.members[0](its.z)
    assert extra(its, noisy, its.z, said) == pytest.approx(math.sqrt(1 + size**2 / its.error) - 1, abs=1e-12)


def test_the_cost_is_what_new_rows_show() -> None:
    its = teacher(members=1, error=0.25)
    student = random_ladder(d=4, hidden=(12, 12), m=1, batch_shape=(1,), seed=0)[0]
    student = replace(student, readout=1.2 * student.readout)
    z = torch.rand(200_000, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(5))
    noise = 0.5 * torch.randn(200_000, 1, dtype=torch.float64, generator=torch.Generator().manual_seed(6))
    y = its.members[0](z) + noise
    root = [float((y - each(z)).square().mean()) ** 0.5 for each in (its.members[0], student)]
    assert extra(its, student, z, its.members[0](z)) == pytest.approx(root[1] / root[0] - 1, rel=0.05)


@pytest.mark.parametrize(("loss", "m"), [(Logistic(), 1), (Softmax(), 3)])
def test_the_cost_of_classes_is_what_drawn_labels_show(loss: Loss, m: int) -> None:
    its = teacher(members=1, m=m, loss=loss)
    z = torch.rand(200_000, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(5))
    said = its.members[0](z)
    student = replace(its.members[0], readout=1.5 * its.members[0].readout)
    chance = torch.rand(200_000, 1, dtype=torch.float64, generator=torch.Generator().manual_seed(6))
    if m == 1:
        labels = (chance < said.sigmoid()).double()
    else:
        labels = (chance > said.softmax(1).cumsum(1)).sum(1).clamp_max(m - 1)
    error = loss.deviance(said, labels)
    expected = loss.deviance(student(z), labels) / error - 1
    assert extra(replace(its, error=error), student, z, said) == pytest.approx(expected, rel=0.1, abs=1e-4)


def test_a_student_without_numbers_costs_everything() -> None:
    its = teacher(members=1)
    broken = shifted(its.members[0], torch.tensor([math.nan], dtype=torch.float64))
    assert extra(its, broken, its.z, its.members[0](its.z)) == math.inf


def test_certain_rows_count_little_and_numbers_alike() -> None:
    said = torch.tensor([[0.0], [2.0], [50.0]], dtype=torch.float64)
    assert certainty(SQUARED, said) is None
    found = certainty(Logistic(), said)
    assert found is not None
    p = 1 / (1 + math.exp(-2))
    assert found.tolist() == pytest.approx([1.0, 4 * p * (1 - p), LEAST_WEIGHT])


# Which students are tried


@pytest.mark.parametrize("members", [1, 3])
def test_the_weights_of_a_teacher_are_those_of_one_ladder(members: int) -> None:
    its = teacher(members)
    assert weights_of(mean_of(its.members), 4) == widen(its.members).n_weights


def test_no_start_is_larger_than_allowed_or_of_higher_order_than_the_teacher() -> None:
    its = teacher()
    teaching = mean_of(its.members)
    view = leading_view(its.z, rows(150, 4).unsqueeze(1), 0.0, 2)
    forms = (Form(2, 4), Form(6, 8), Form(8, 8), Form(3, 30))
    found = list(starts(teaching, view, forms, 10**6, 0))
    # The third is a ladder of the teacher.
    assert [(start.order, start.hidden[0]) for start in found] == [(2, 4), (3, 8), (3, 12), (3, 30)]
    largest = view.folded(found[1]).n_weights
    assert [start.hidden[0] for start in starts(teaching, view, forms, largest, 0)] == [4, 8]
    assert [start.hidden[0] for start in starts(teaching, view, forms, largest - 1, 0)] == [4]


# What comes of it


def test_a_small_ladder_takes_the_place_where_it_is_close() -> None:
    its = teacher(error=1.0)
    found = compacted(its, tolerance=0.05, trying=FAST)
    assert found.ladder is not None
    # On other rows of the cube, not those that it was judged by.
    z = torch.rand(5_000, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(77))
    said = mean_of(its.members)(z)
    assert extra(its, found.ladder, z, said) <= 2 * 0.05
    assert found.cost <= 0.05
    words = f"One ladder of order {found.ladder.order} with {found.ladder.n_weights:,} weights stands for 3 of "
    assert found.sentence.startswith(words)
    assert f"costs {found.cost:.1%} of its error" in found.sentence


@pytest.mark.parametrize("dear", [150, JUDGED])
def test_a_student_is_close_at_the_rows_and_between_them(dear: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def cost(teacher: Teacher, ladder: LadderPolynomial, z: Tensor, said: Tensor) -> float:
        return 0.5 if len(z) == dear else 0.0

    monkeypatch.setattr(compact, "extra", cost)
    found = compacted(teacher(), trying=FAST)
    assert (found.ladder, found.cost) == (None, 0.5)


def test_the_first_that_is_close_enough_ends_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    taught: list[int] = []

    def course(first: Lesson, whole: Any, start: LadderPolynomial) -> Iterator[LadderPolynomial]:
        while True:
            taught.append(start.hidden[0])
            yield start

    monkeypatch.setattr(compact, "learning", course)
    # What a student costs after the first look and each sweep: sweeps go on while they pay.
    for costs, expected in (
        ((0.2,), [6]),  # close enough at once
        ((0.9, 0.3), [6, 6]),
        ((0.9, 0.9), [6, 6]),  # within what is allowed, and no better for another sweep
        ((3.0, 3.0, 0.2), [6, 6, 8]),  # a sweep that brings nothing is the last
        ((6.0, 5.0, 0.2), [6, 6, 8]),  # at this pace it will not be close enough in the sweeps that are left
        ((4.0, 2.0, 1.0, 0.3), [6, 6, 6, 6]),
        ((50.0, 0.2), [6, 8]),  # too far off after the first look
    ):
        taught.clear()
        queue = iter(np.repeat(costs, 2) * 0.1)  # each is judged twice
        monkeypatch.setattr(compact, "extra", lambda *_, queue=queue: next(queue))
        compacted(teacher(), trying=FAST, tolerance=0.1)
        assert taught == expected, costs


def test_the_time_of_a_student_is_that_of_its_points() -> None:
    small, large = (random_ladder(d=20, hidden=(k, k, k), m=1) for k in (10, 20))
    for points in (5_000, 20_000):
        assert all(s < t for s, t in zip(compact.prices(small, points), compact.prices(large, points), strict=True))
    (look, sweep), (same, longer) = compact.prices(small, 5_000), compact.prices(small, 20_000)
    assert look == pytest.approx(same)
    assert 2 * sweep < longer
    teaching = mean_of(teacher().members)
    assert compact.asking_seconds(teaching, 2_000) == pytest.approx(2 * compact.asking_seconds(teaching, 1_000))


def test_the_same_seed_gives_the_same_ladder() -> None:
    first, second, other = (compacted(teacher(error=1.0), trying=FAST, tolerance=1.0, seed=s) for s in (1, 1, 2))
    assert first.ladder is not None
    assert second.ladder is not None
    assert other.ladder is not None
    torch.testing.assert_close(first.ladder.W[0], second.ladder.W[0], rtol=0, atol=0)
    assert first.cost == second.cost
    assert first.cost != other.cost


def test_the_model_stays_where_nothing_is_close() -> None:
    found = compacted(teacher(error=1e-9), tolerance=0.005, trying=FAST)
    assert found.ladder is None
    assert found.cost > 0.005
    assert found.sentence.endswith(f"would cost {found.cost:.1%} of its error, and 0.5% of it is allowed.")


def test_the_model_stays_where_it_is_small_or_exact_or_there_is_no_time() -> None:
    small = compacted(teacher(members=1))
    assert small.ladder is None
    assert small.sentence == f"The model is one ladder of {teacher(1).members[0].n_weights} weights, small as it is."
    exact = compacted(teacher(error=EXACT))
    assert exact.ladder is None
    assert "it is exact" in exact.sentence
    hasty = compacted(teacher(), trying=replace(FAST, seconds=0.0))
    assert hasty.ladder is None
    assert hasty.sentence.endswith("was kept: there was no time to teach a small one.")


def test_a_size_is_kept_whatever_it_costs() -> None:
    its = teacher(error=3e-10)
    found = compacted(its, size=200, trying=FAST)
    assert found.ladder is not None
    assert found.ladder.n_weights <= 200
    assert found.cost > 0.01
    none = compacted(its, size=20, trying=FAST)
    assert none.ladder is None
    assert none.sentence.endswith("was kept: no ladder that is tried has at most 20 weights.")


def test_a_size_is_kept_of_an_exact_model() -> None:
    found = compacted(teacher(error=0.0), size=200, trying=FAST)
    assert found.ladder is not None
    assert math.isfinite(found.cost)


def test_few_rows_have_little_time() -> None:
    assert fit_seconds(10) < fit_seconds(100) < 0.3
    assert fit_seconds(10**6) == fit_seconds(10**5) == 0.45


# In a fit


def friedman(n: int = 120) -> tuple[Any, Any]:
    return make_friedman1(n, n_features=5, noise=1.0, random_state=0)


@cache
def fitted(compact: Any = "auto", n: int = 120) -> LPNNRegressor:
    return LPNNRegressor(effort="low", random_state=0, compact=compact).fit(*friedman(n))


def check_sentence(model: LPNNRegressor | LPNNClassifier) -> None:
    """What is said of the model is true of it."""
    chosen = model.selection_
    assert model.order_ == model.polynomial_.order
    if chosen.compact_order is not None:
        assert len(model.members_) == 1
        assert chosen.compact_order == model.order_ == chosen.facts["order"]
        words = f"One ladder of order {model.order_} with {model.polynomial_.n_weights:,} weights stands for"
        assert chosen.compact.startswith(words)
        cost = re.search(r"that costs (.*)% of its error", chosen.compact)
        assert cost is not None
        assert float(cost[1]) <= 1.0
    elif chosen.compact:
        assert re.search(rf"\b{model.polynomial_.n_weights:,} weights", chosen.compact)
    assert chosen.facts.get("compact", "") == chosen.compact


@pytest.mark.slow
def test_a_fit_gives_a_small_ladder_that_says_the_same() -> None:
    small, whole = fitted(), fitted(False)
    check_sentence(small)
    assert small.selection_.compact_order is not None
    assert small.polynomial_.n_weights < whole.polynomial_.n_weights / 10
    assert whole.selection_.compact == ""
    assert replace(small.selection_, compact="", compact_order=None) == whole.selection_
    # On rows of the same kind that neither has seen.
    X, y = make_friedman1(3_000, n_features=5, noise=1.0, random_state=1)
    roots = [np.sqrt(np.mean((each.predict(X) - y) ** 2)) for each in (small, whole)]
    assert roots[0] <= 1.03 * roots[1]


@pytest.mark.slow
def test_a_fit_is_repeatable_and_a_tolerance_is_read() -> None:
    again = LPNNRegressor(effort="low", random_state=0).fit(*friedman())
    X, _ = friedman()
    np.testing.assert_array_equal(again.predict(X), fitted().predict(X))
    strict = fitted(1e-9)
    check_sentence(strict)
    assert strict.selection_.compact_order is None
    np.testing.assert_array_equal(strict.predict(X), fitted(False).predict(X))


@pytest.mark.slow
def test_a_file_keeps_what_is_said(tmp_path: Path) -> None:
    for model in (fitted(), fitted(False)):
        model.save(tmp_path / "a.ladder")
        back = polyladder.load(tmp_path / "a.ladder")
        assert back.selection_ == model.selection_
        np.testing.assert_array_equal(back.predict(friedman()[0]), model.predict(friedman()[0]))


@pytest.mark.slow
def test_a_file_of_before_has_nothing_to_say(tmp_path: Path) -> None:
    def as_before(header: Any, tensors: Any) -> None:
        del header["estimator"]["state"]["compact"]
        for name in ("compact", "compact_order"):
            del header["estimator"]["state"]["selection_"]["state"][name]

    fitted(False).save(tmp_path / "a.ladder")
    damaged(tmp_path / "a.ladder", as_before)
    back = polyladder.load(tmp_path / "a.ladder")
    assert (back.selection_.compact, back.selection_.compact_order) == ("", None)
    assert back.compact == "auto"
    np.testing.assert_array_equal(back.predict(friedman()[0]), fitted(False).predict(friedman()[0]))


def tables() -> dict[str, tuple[Any, Any, Any]]:
    """Tables of every kind: rows, targets, weights."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    X, y = friedman()
    holes = X.copy()
    holes[rng.random(X.shape) < 0.1] = np.nan
    words = pd.DataFrame({"word": rng.choice([f"w{i}" for i in range(25)], 120), "x": X[:, 0], "y": X[:, 1]})
    return {
        "exact": (X[:, :3], X[:, 0] * X[:, 1] + X[:, 2], None),
        "line": (X, X[:, 0] - 2 * X[:, 1], None),
        "constant": (X, np.ones(120), None),
        "12 rows": (X[:12], y[:12], None),
        "one column": (X[:, :1], np.sin(6 * X[:, 0]), None),
        "categories": (words, y + (words["word"] == "w3"), None),
        "missing": (holes, y, None),
        "outputs": (X, np.stack([y, 1e-3 * X[:, 0] * X[:, 1]], 1), None),
        "weights": (X, y, rng.integers(0, 3, 120)),
        "two classes": (X, np.where(y > 14, "yes", "no"), None),
        "five classes": (X, np.digitize(y, [10, 13, 15, 18]), None),
    }


@pytest.mark.slow
@pytest.mark.parametrize("kind", tables())
def test_tables_of_every_kind(kind: str) -> None:
    X, y, weight = tables()[kind]
    model = (LPNNClassifier if "classes" in kind else LPNNRegressor)(effort="low", random_state=0)
    model.fit(X, y, sample_weight=weight)
    check_sentence(model)
    found = model.predict(X)
    assert np.shape(found) == np.shape(y)
    if "classes" not in kind:
        assert np.isfinite(found).all()


@pytest.mark.slow
def test_five_thousand_rows() -> None:
    X, y = make_friedman1(5_000, noise=1.0, random_state=0)
    model = LPNNRegressor(effort="low", random_state=0).fit(X, y)
    check_sentence(model)
    assert np.mean((model.predict(X) - y) ** 2) < 0.1 * y.var()


# Parameters


@pytest.mark.parametrize("value", [True, 0, 0.0, -0.1, "yes", math.nan, math.inf, None])
@pytest.mark.parametrize("kind", [LPNNRegressor, LPNNClassifier])
def test_other_values_are_refused(kind: Any, value: Any) -> None:
    X, y = friedman(20)
    with pytest.raises(ValueError, match=r"The 'compact' parameter of LPNN.* must be .*Got .* instead"):
        kind(compact=value).fit(X, y > 14)


def test_false_is_among_what_a_refusal_names() -> None:
    with pytest.raises(ValueError, match="or False"):
        LPNNRegressor(compact=-1).fit(*friedman(20))


@pytest.mark.parametrize(("given", "words"), [({"order": 3}, "order='auto'"), ({"solver": "adam"}, "solver='auto'")])
@pytest.mark.parametrize("value", [0.1, False])
def test_it_is_refused_where_nothing_is_selected(given: dict[str, Any], words: str, value: Any) -> None:
    with pytest.raises(ValueError, match=rf"compact.*{words}"):
        LPNNRegressor(compact=value, **given).fit(*friedman(20))
