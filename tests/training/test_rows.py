import pytest
import torch

from polyladder.training.rows import chosen_rows, row_weights
from tests.ladders import rows


def test_a_row_counts_as_often_as_its_number_times_its_weight() -> None:
    x, weight = rows(4, 2), torch.tensor([1.0, 2.0, 0.5, 0.0])
    chosen, held_out = chosen_rows([torch.tensor([0, 1, 1]), torch.tensor([2, 3])], None, weight, 4, (2,))
    assert held_out is None
    expected = torch.tensor([[1.0, 4.0, 0.0, 0.0], [0.0, 0.0, 0.5, 0.0]], dtype=torch.float64)
    assert torch.equal(row_weights(chosen, weight, x), expected)


@pytest.mark.parametrize("shared", [None, torch.tensor([3, 0])])
def test_rows_that_all_models_share_are_counted_once(shared: torch.Tensor | None) -> None:
    chosen, _ = chosen_rows(shared, None, None, 4, (2, 3))
    assert len(chosen) == 6
    weights = row_weights(chosen, None, rows(4, 2))
    assert weights.tolist() == ([[1.0, 1.0, 1.0, 1.0]] if shared is None else [[1.0, 0.0, 0.0, 1.0]])


def test_models_train_on_what_they_do_not_validate_on() -> None:
    chosen, held_out = chosen_rows(None, torch.tensor([[0, 1], [2, 2]]), None, 4, (2,))
    assert held_out is not None
    assert [v.tolist() for v in held_out] == [[0, 1], [2, 2]]
    assert [v.tolist() for v in chosen] == [[2, 3], [0, 1, 3]]
