import pytest
import torch

from polyladder.estimators.batch.progress import Progress


def run(progress: Progress) -> None:
    with progress.of(4):
        for loss in (2.0, 1.25):
            progress.step(2, torch.tensor([loss, torch.nan]))


def test_one_line_on_stderr_ends_complete_with_the_mean_loss(capfd: pytest.CaptureFixture[str]) -> None:
    run(Progress(True, "LPNNRegressor fit"))
    out, err = capfd.readouterr()
    assert out == ""
    (line,) = [line for line in err.splitlines() if line.strip()]
    assert "LPNNRegressor fit" in line
    assert "loss 1.25" in line
    assert "0:00:00" in line


def test_nothing_is_shown_unless_wanted(capfd: pytest.CaptureFixture[str]) -> None:
    run(Progress(False, "LPNNRegressor fit"))
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("wanted", [True, False])
def test_what_ends_a_fit_comes_through(wanted: bool) -> None:
    with pytest.raises(KeyboardInterrupt), Progress(wanted, "fit").of(4):
        raise KeyboardInterrupt
