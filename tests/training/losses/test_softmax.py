import torch

from polyladder.training.losses.logistic import Logistic
from polyladder.training.losses.softmax import Softmax
from tests.ladders import rows


def test_shares_of_one_class_are_that_class() -> None:
    f, y = 3 * rows(8, 4), torch.tensor([0, 1, 2, 3, 3, 2, 1, 0])
    shares = torch.nn.functional.one_hot(y, 4).double()
    torch.testing.assert_close(Softmax().each(f, y), Softmax().each(f, shares))
    torch.testing.assert_close(Softmax().slopes(f, y), Softmax().slopes(f, shares))


def test_two_classes_are_the_logistic_loss() -> None:
    f, y = 3 * rows(8, 1), torch.tensor([0, 1, 1, 1, 0, 1, 0, 0])
    two = torch.cat([torch.zeros_like(f), f], 1)
    torch.testing.assert_close(Softmax().rows(two, y), Logistic().rows(f, y.double().unsqueeze(-1)))
