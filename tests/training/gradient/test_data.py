import pytest
import torch
from scipy import sparse

from polyladder import LPNN
from polyladder.polynomial.sparse import as_rows
from polyladder.training.gradient.data import checked_data
from tests.ladders import rows

X, Y = rows(6, 3), rows(6, 1, seed=2)


def test_data_take_the_dtype_of_the_network_and_leave_the_graph() -> None:
    x = X.clone().requires_grad_()
    weight = torch.arange(6)
    data = checked_data(LPNN(3, (2,), 1, batch_shape=(2,)), "squared", x, Y[:, 0], weight, None, torch.tensor([5]))
    assert data.x.dtype == data.target.dtype == torch.float32
    assert not data.x.requires_grad
    torch.testing.assert_close(data.x, X.float())
    assert data.target.shape == (6, 1)
    assert data.weight is not None
    assert data.weight.dtype == torch.float32
    assert [r.tolist() for r in data.rows] == [[0, 1, 2, 3, 4]] * 2
    assert data.validation is not None
    assert [v.tolist() for v in data.validation] == [[5], [5]]


def test_one_model_may_have_sparse_rows() -> None:
    x = as_rows(sparse.csr_matrix(X.numpy()))
    data = checked_data(LPNN(3, (2,), 1, batch_shape=(1,)), "squared", x, Y, None, None, None)
    torch.testing.assert_close(data.x.to_dense(), X.float())
    with pytest.raises(
        ValueError, match=r"x must be dense for a batch of models.*for 2 models\. Train them one by one"
    ):
        checked_data(LPNN(3, (2,), 1, batch_shape=(2,)), "squared", x, Y, None, None, None)


def test_arrays_are_refused_with_what_to_do() -> None:
    net = LPNN(3, (2,), 1)
    with pytest.raises(TypeError, match=r"y must be a torch.Tensor; got ndarray\. Wrap it in torch.as_tensor"):
        checked_data(net, "squared", X, Y.numpy(), None, None, None)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"sample_weight must be a torch.Tensor; got list"):
        checked_data(net, "squared", X, Y, [1.0] * 6, None, None)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"x must be a torch.Tensor; got list"):
        checked_data(net, "squared", X.tolist(), Y, None, None, None)  # type: ignore[arg-type]
