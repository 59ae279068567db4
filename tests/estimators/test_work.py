import pytest
import torch

from polyladder.estimators.cost import usual_seconds
from polyladder.estimators.rows import TrainingRows
from polyladder.estimators.work import FULL, MULTIPLE, work_for
from polyladder.training.losses.softmax import Softmax
from polyladder.training.losses.squared import SQUARED


def table(n: int, d: int, outputs: int = 1) -> TrainingRows:
    """Rows of which only the shape matters; they take no memory."""
    return TrainingRows(torch.zeros(1, 1).expand(n, d), torch.zeros(1, 1).expand(n, outputs), None, outputs, SQUARED)


def test_small_tables_get_all_sweeps_and_ladders() -> None:
    for n, d in ((277, 6), (500, 10), (1500, 11)):
        work = work_for("auto", table(n, d), 10, 6, None, None)
        assert (work.solver, work.models, work.stages) == ("alternating", 8, FULL)


@pytest.mark.parametrize(("n", "d"), [(2300, 128), (15000, 18), (36000, 8), (200000, 54), (2300, 500), (10**6, 100)])
def test_the_default_is_bounded_on_any_table(n: int, d: int) -> None:
    work = work_for("auto", table(n, d), 12 if n >= 4000 else 10, 6, None, None)
    assert work.solver == "adam" or work.seconds <= work.budget
    assert work.budget == pytest.approx(MULTIPLE * usual_seconds(n, d, 1))
    assert str(work)


def test_fewer_seconds_never_buy_more() -> None:
    rows = table(50_000, 20)
    works = [work_for("alternating", rows, 12, 6, None, seconds) for seconds in (1000.0, 20.0, 5.0, 2.0, 1.0, 0.5)]
    spent = [work.seconds for work in works]
    assert spent == sorted(spent, reverse=True)
    assert works[0].stages == FULL
    assert works[-1].models < works[0].models or works[-1].stages != works[0].stages


def test_a_number_of_ladders_that_is_asked_for_stays() -> None:
    assert work_for("auto", table(50_000, 20), 12, 6, 8, 1.0).models == 8


def test_adam_is_kept_for_sparse_rows_and_on_request() -> None:
    sparse = TrainingRows(torch.eye(4).to_sparse_csr(), torch.zeros(4, 1), None, 1, SQUARED)
    assert work_for("auto", sparse, 4, 3, None, None).solver == "adam"
    assert work_for("adam", table(100, 3), 4, 3, None, None).solver == "adam"


def test_many_classes_are_left_to_adam_unless_block_solves_are_asked_for() -> None:
    def rows(classes: int) -> TrainingRows:
        return TrainingRows(
            torch.zeros(1, 1).expand(500, 4), torch.zeros(500, dtype=torch.long), None, classes, Softmax()
        )

    assert work_for("auto", rows(5), 10, 4, None, None).solver == "alternating"
    assert work_for("auto", rows(6), 10, 4, None, None).solver == "adam"
    assert work_for("alternating", rows(6), 10, 4, None, None).solver == "alternating"
