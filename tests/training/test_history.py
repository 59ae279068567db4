import math

import torch

from polyladder.training.history import TrainingLog


def numbers(*values: float) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64)


def everyone(count: int) -> torch.Tensor:
    return torch.arange(count)


def test_a_model_that_is_no_longer_finite_ends_where_it_was() -> None:
    log = TrainingLog(3, validated=False)
    log.advance(everyone(3), numbers(3, 2, 1), torch.tensor([True, True, True]))
    log.advance(everyone(3), numbers(2, math.inf, 0.5), torch.tensor([True, False, True]))
    log.advance(everyone(3), numbers(1, 7, 0.2), torch.tensor([True, True, True]))
    record = log.record((3,))
    assert record["diverged"].tolist() == [False, True, False]
    assert record["stopped"].tolist() == [False, False, False]
    assert record["steps"].tolist() == [3, 1, 3]
    expected = torch.stack([numbers(3, 2, 1), numbers(2, math.nan, math.nan), numbers(1, 0.5, 0.2)])
    torch.testing.assert_close(record["training_loss"], expected, equal_nan=True)
    assert record["validation_loss"] is None
    # Without validation, what a model has now are its last weights.
    assert record["best"].tolist() == [3, 1, 3]
    assert not record["interrupted"]
    assert record["seconds"] >= 0


def test_patience_counts_the_steps_since_the_best() -> None:
    """Against a loop over each curve on its own."""
    generator, patience, steps = torch.Generator().manual_seed(2), 2, 8
    curves = torch.rand(4, steps, generator=generator, dtype=torch.float64)
    log = TrainingLog(4, validated=True)
    for t in range(steps):
        log.advance(everyone(4), curves[:, t], torch.ones(4, dtype=torch.bool))
        improved = log.validate(everyone(4), curves[:, t], patience)
        for i in range(4):
            if log.running[i]:
                assert improved[i] == (curves[i, t] == curves[i, : t + 1].min())
    record = log.record((4,))
    for i, curve in enumerate(curves.tolist()):
        best, end = 0, steps
        for t, value in enumerate(curve):
            best = t if value < curve[best] else best
            if t - best >= patience:
                end = t + 1
                break
        assert record["best"][i] == best + 1
        assert record["steps"][i] == end
        assert record["stopped"][i] == (end - 1 - best >= patience)
        assert record["validation_loss"][i].isfinite().sum() == end
    assert record["stopped"].sum() > 0


def test_only_the_models_computed_are_noted() -> None:
    log = TrainingLog(4, validated=False)
    log.stop(torch.tensor([1]))
    log.advance(torch.tensor([0, 2, 3]), numbers(5, 6, 7), torch.ones(3, dtype=torch.bool))
    torch.testing.assert_close(log.latest((2, 2))[0], numbers(5, math.nan, 6, 7).reshape(2, 2), equal_nan=True)
    assert log.stopped.tolist() == [False, True, False, False]
    assert log.steps.tolist() == [1, 0, 1, 1]


def test_a_model_stops_once_and_a_diverged_one_never() -> None:
    log = TrainingLog(3, validated=False)
    log.advance(everyone(3), numbers(1, 1, 1), torch.tensor([True, False, True]))
    log.stop(torch.tensor([True, True, False]))
    assert log.stopped.tolist() == [True, False, False]
    assert log.running.tolist() == [False, False, True]
    assert not log.mostly_stopped(everyone(3))
    assert log.mostly_stopped(torch.tensor([0, 2]))


def test_an_interrupted_step_without_validation_is_left_out_of_both_curves() -> None:
    log = TrainingLog(2, validated=True)
    for value in (3.0, 2.0):
        log.advance(everyone(2), numbers(value, value), torch.ones(2, dtype=torch.bool))
        if value == 3.0:
            log.validate(everyone(2), numbers(value, value), None)
    record = log.record((2,))
    assert record["training_loss"].shape == record["validation_loss"].shape == (2, 1)
    assert TrainingLog(6, validated=True).record((2, 3))["training_loss"].shape == (2, 3, 0)
