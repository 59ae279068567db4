import torch

from polyladder.training.gradient.row_stream import RowStream


def streams(*lengths: int, batch_size: int = 4, first_seed: int = 0) -> RowStream:
    rows = [torch.arange(100 * i, 100 * i + n, dtype=torch.int32) for i, n in enumerate(lengths)]
    return RowStream(rows, batch_size, [torch.Generator().manual_seed(first_seed + i) for i in range(len(lengths))])


def seen(stream: RowStream, epochs: int) -> list[list[int]]:
    """What each model sees, one row after another, the steps that it sits out left out."""
    found: list[list[int]] = [[] for _ in stream.rows]
    for _ in range(epochs):
        index = stream.epoch()
        for i, steps in enumerate(stream.steps.tolist()):
            found[i] += index[:steps, i].flatten().tolist()
    return found


def test_no_row_comes_again_before_all_others_came() -> None:
    lengths = (10, 3, 4, 1)
    stream = streams(*lengths)
    assert stream.steps.tolist() == [3, 1, 1, 1]
    for i, (numbers, n) in enumerate(zip(seen(stream, 15), lengths, strict=True)):
        own = set(range(100 * i, 100 * i + n))
        for first in range(0, len(numbers) - n + 1, n):
            assert set(numbers[first : first + n]) == own


def test_every_permutation_is_another() -> None:
    numbers = seen(streams(8), 6)[0]
    assert len({tuple(numbers[i : i + 8]) for i in range(0, 48, 8)}) == 6


def test_a_model_sees_the_same_whoever_its_neighbors_are() -> None:
    alone = RowStream([torch.arange(100, 105, dtype=torch.int32)], 4, [torch.Generator().manual_seed(1)])
    assert seen(streams(10, 5), 4)[1] == seen(alone, 4)[0]


def test_steps_that_a_model_sits_out_hold_row_zero() -> None:
    stream = streams(10, 3)
    index = stream.epoch()
    assert index.shape == (3, 2, 4)
    assert index.dtype == torch.int32
    assert (index[1:, 1] == 0).all()
    assert (index[0, 1] >= 100).all()


def test_a_part_goes_on_at_the_same_place() -> None:
    whole, other = streams(10, 5, 7), streams(10, 5, 7)
    seen(whole, 2)
    seen(other, 2)
    part = other.part(torch.tensor([2, 0]))
    expected = seen(whole, 3)
    assert seen(part, 3) == [expected[2], expected[0]]


def test_without_a_generator_torchs_own_stream_decides() -> None:
    def draw(seed: int) -> list[int]:
        torch.manual_seed(seed)
        return RowStream([torch.arange(50, dtype=torch.int32)], 50, [None]).epoch().flatten().tolist()

    assert draw(3) == draw(3)
    assert draw(3) != draw(4)
