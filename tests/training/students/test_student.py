"""Small ladders that learn from a teacher."""

from itertools import islice

import pytest
import torch

from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.polynomial.units import MeanOfParts, mean_of
from polyladder.polynomial.widen import widen
from polyladder.training.students.student import Form, Lesson, fresh, ladders_in, learning, seen_start
from polyladder.training.students.view import leading_view
from tests.ladders import random_ladder, rows


def learned(lesson: Lesson, form: Form, sweeps: int) -> LadderPolynomial:
    """What a student says after some sweeps over all that it is told."""
    start = fresh(form, lesson.w.shape[1], lesson.said.shape[1], seed=0)
    return next(islice(learning(lesson, lambda: lesson, start), sweeps, None))


@pytest.mark.parametrize("order", [2, 3, 6])
@pytest.mark.parametrize("outputs", [1, 3])
def test_the_weights_of_a_form_are_counted(order: int, outputs: int) -> None:
    form = Form(order, 5)
    start = fresh(form, 7, outputs, seed=0)
    assert (start.order, set(start.hidden)) == (order, {5})
    assert form.weights(7, outputs) == start.n_weights


def test_a_student_says_what_a_small_teacher_says() -> None:
    w = rows(500, 3)
    said = torch.stack([1e4 + 100 * (w[:, 0] * w[:, 1] + w[:, 2]), 1e-3 * w[:, 0] ** 2], 1)
    ladder = learned(Lesson(w, said, None), Form(3, 6), 25)
    new = rows(200, 3, seed=5)
    expected = torch.stack([1e4 + 100 * (new[:, 0] * new[:, 1] + new[:, 2]), 1e-3 * new[:, 0] ** 2], 1)
    assert ((ladder(new) - expected).square().mean(0) / expected.var(0)).max() < 1e-3


def test_a_constant_is_learned() -> None:
    w = rows(100, 2)
    ladder = learned(Lesson(w, torch.full((100, 1), 7.0, dtype=w.dtype), None), Form(3, 4), 2)
    torch.testing.assert_close(ladder(w), torch.full((100, 1), 7.0, dtype=w.dtype))


def test_rows_without_weight_teach_nothing() -> None:
    w = rows(300, 2)
    said = (w[:, :1] * w[:, 1:]).clone()
    wrong, weight = said.clone(), torch.ones(300, dtype=w.dtype)
    wrong[::3] += 50.0
    weight[::3] = 0.0
    ladder = learned(Lesson(w, wrong, weight), Form(3, 4), 20)
    assert (ladder(w) - said).square().mean() < 1e-3 * said.var()


def test_the_part_with_most_ladders_is_taken_apart() -> None:
    few = widen([random_ladder(hidden=(3, 3), m=1, seed=i) for i in range(2)])
    many = widen([random_ladder(hidden=(2, 2), m=1, seed=i) for i in range(4)])
    teacher = MeanOfParts((few, many))
    assert [each.hidden for each in ladders_in(teacher)] == [(2, 2)] * 4
    units = mean_of(random_ladder(hidden=(), m=1, batch_shape=(1,)))
    assert ladders_in(units) == []


@pytest.mark.parametrize(("width", "expected"), [(3, None), (4, 4), (11, 8), (40, 12)])
def test_as_many_of_the_teachers_ladders_as_there_is_room_for(width: int, expected: int | None) -> None:
    z = rows(100, 3)
    view = leading_view(z, rows(100, 3, seed=2).unsqueeze(1), 0.0, 3)
    own = [random_ladder(hidden=(4, 4), m=1, seed=i) for i in range(3)]
    start = seen_start(own, width, view)
    assert (None if start is None else start.hidden[0]) == expected
    if expected == 12:
        assert start is not None
        torch.testing.assert_close(start(view(z)), widen(own)(z), rtol=1e-8, atol=1e-8)


def test_a_teacher_without_ladders_gives_no_start() -> None:
    view = leading_view(rows(50, 3), rows(50, 3, seed=2).unsqueeze(1), 0.0, 3)
    assert seen_start([], 20, view) is None
