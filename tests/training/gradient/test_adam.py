import math

import torch

from polyladder.training.gradient.adam import BatchedAdam
from tests.ladders import rows


def test_every_model_moves_as_by_torchs_own_optimizer() -> None:
    """Other rates for each model, two parameters, and models that pause in different steps."""
    start = [rows(3, 4), rows(3, 2, seed=2)]
    rates = torch.tensor([0.1, 0.01, 0.003], dtype=torch.float64)
    adam = BatchedAdam([t.clone() for t in start])
    alone = [[torch.nn.Parameter(t[i].clone()) for t in start] for i in range(3)]
    optimizers = [torch.optim.Adam(p, lr=rates[i].item()) for i, p in enumerate(alone)]
    for step in range(12):
        active = torch.tensor([True, step % 3 != 0, step > 4])
        gradients = [rows(3, 4, seed=10 + step), rows(3, 2, seed=50 + step)]
        for i, (parameters, optimizer) in enumerate(zip(alone, optimizers, strict=True)):
            if active[i]:
                for parameter, g in zip(parameters, gradients, strict=True):
                    parameter.grad = g[i].clone()
                optimizer.step()
        # What a pausing model would have done may be anything.
        for g in gradients:
            g[~active] = math.nan
        adam.step(gradients, rates, active)
    for i, parameters in enumerate(alone):
        for found, expected in zip(adam.parameters, parameters, strict=True):
            torch.testing.assert_close(found[i], expected.detach(), rtol=1e-12, atol=1e-14)
    assert adam.steps.tolist() == [12, 8, 7]


def test_a_part_goes_on_where_the_whole_left_off() -> None:
    whole = BatchedAdam([rows(4, 3)])
    chosen = torch.tensor([3, 1])

    def step(adam: BatchedAdam, models: torch.Tensor, seed: int) -> None:
        adam.step([rows(4, 3, seed=seed)[models]], torch.full((len(models),), 0.1).double(), models < 9)

    step(whole, torch.arange(4), 5)
    part = BatchedAdam([whole.parameters[0][chosen].clone()])
    part.resume(whole, chosen)
    for seed in (6, 7):
        step(whole, torch.arange(4), seed)
        step(part, chosen, seed)
    assert torch.equal(part.parameters[0], whole.parameters[0][chosen])
    assert part.steps.tolist() == [3, 3]


def test_single_precision_stays_what_it_is() -> None:
    adam = BatchedAdam([torch.zeros(2, 3)])
    adam.step([torch.ones(2, 3)], torch.tensor([0.5, 0.0], dtype=torch.float64), torch.tensor([True, True]))
    assert adam.parameters[0].dtype == torch.float32
    # The first step has the size of the learning rate, whatever the gradient's.
    torch.testing.assert_close(adam.parameters[0], torch.tensor([[-0.5] * 3, [0.0] * 3]))
