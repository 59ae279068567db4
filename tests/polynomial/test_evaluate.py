import pytest
import torch
from scipy import sparse

from polyladder.polynomial import evaluate as room
from polyladder.polynomial.evaluate import evaluate
from polyladder.polynomial.sparse import as_rows
from tests import ladders


def test_rows_are_evaluated_in_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    p, z = ladders.random_ladder(batch_shape=(2,)), ladders.rows(7, 3)
    sizes = []

    def model(part: torch.Tensor) -> torch.Tensor:
        sizes.append(len(part))
        return p(part)

    monkeypatch.setattr(room, "PREDICT_NUMBERS", 30)
    found = evaluate(model, z, numbers=10)
    assert sizes == [3, 3, 1]
    torch.testing.assert_close(found, p(z))
    # The states of a ladder, two times 4 + 5 for each row, are counted without being told.
    torch.testing.assert_close(evaluate(p, z), p(z))
    torch.testing.assert_close(evaluate(p, as_rows(sparse.csr_matrix(z.numpy()))), p(z))
    assert evaluate(p, z[:1], numbers=10**9).shape == (2, 1, 2)
