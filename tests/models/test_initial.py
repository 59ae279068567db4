import torch

from polyladder.models.initial import draw_normal


def test_each_model_draws_its_tensors_in_order_from_its_own_stream() -> None:
    first, second = torch.empty(2, 3, 4, 5), torch.empty(2, 3, 6)
    draw_normal([(first, 0.5), (second, 2.0)], (2, 3), seed=10)
    for i in range(2):
        for j in range(3):
            g = torch.Generator().manual_seed(10 + 3 * i + j)
            assert torch.equal(first[i, j], 0.5 * torch.randn(4, 5, generator=g))
            assert torch.equal(second[i, j], 2.0 * torch.randn(6, generator=g))


def test_without_a_seed_torch_decides() -> None:
    weights = [torch.empty(4, dtype=torch.float64) for _ in range(3)]
    for weight, seed in zip(weights, (1, 1, 2), strict=True):
        torch.manual_seed(seed)
        draw_normal([(weight, 1.0)], (), None)
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])


def test_parameters_are_filled_in_place_and_keep_their_gradients() -> None:
    weight = torch.nn.Parameter(torch.zeros(1000, 100))
    draw_normal([(weight, 0.1)], (1000,), seed=0)
    assert weight.requires_grad
    assert weight.is_leaf
    assert abs(weight.std().item() - 0.1) < 1e-3
    assert abs(weight.mean().item()) < 2e-3


def test_tensors_without_memory_are_left_alone() -> None:
    state = torch.get_rng_state()
    draw_normal([(torch.empty(3, device="meta"), 1.0)], (), None)
    assert torch.equal(torch.get_rng_state(), state)
