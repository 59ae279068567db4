import pytest

from polyladder.convert.source.fixed_steps import FixedNumber, step_lines
from polyladder.fitted.steps import Affine, Clip, Fill, IsCategory, IsMissing, Quantile, Ramp


def after(*steps):
    value = FixedNumber(8, 100.0, 0.002)
    lines = [line for step in steps for line in step_lines(step, value, ("u", "v"), "row[0]", 16)]
    return value, lines


def test_integers_say_what_steps_do():
    assert after(Clip(-1.0, 2.0))[1] == ["    x = x < -256 ? -256 : x > 512 ? 512 : x;"]
    assert after(Fill(0.5))[1] == ["    if (row[0] == INT16_MIN) x = 128;"]
    assert after(IsCategory("v"))[1] == ["    x = x == 1 ? 1 : 0;"]
    assert after(IsMissing())[0].error == 0.0
    value, _ = after(Clip(0.0, 2.0), Affine(1.0, 4.0))
    assert value.size == pytest.approx(3 / 4, rel=0.01)
    assert 0.002 / 4 <= value.error < 0.002
    assert after(Ramp(0.0, 2.0))[0].size == pytest.approx(1.0, rel=0.01)


def test_curved_steps_are_refused():
    with pytest.raises(ValueError, match="few linear pieces"):
        after(Quantile((0.0, 1.0), (0.0, 1.0), (0.0, 1.0), (0.0, 1.0)))
