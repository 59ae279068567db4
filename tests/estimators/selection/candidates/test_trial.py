import numpy as np

from polyladder.estimators.selection.candidates.total import Total
from polyladder.estimators.selection.candidates.trial import Trial
from tests.estimators.selection.candidates.few_rows import X, Y, problem


class Nothing(Trial):
    model = "nothing"

    def add_to(self, total: Total, weight: float) -> None:
        """Add nothing."""


def test_a_candidate_need_say_no_more_than_what_it_adds() -> None:
    trial = Nothing("standard", 3, np.zeros_like(Y))
    assert trial.excess == 0
    assert trial.on_all(problem(rows=20), X) is trial
