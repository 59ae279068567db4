import numpy as np
import pytest
from sklearn.preprocessing import QuantileTransformer

from polyladder.fitted.steps.quantile import quantile_step


@pytest.mark.parametrize("seed", range(4))
def test_quantile_steps_are_scikit_learns(seed):
    rng = np.random.default_rng(seed)
    column = np.where(rng.random(60) < 0.5, rng.choice([0.0, 1.0, 5.0], 60), rng.uniform(0, 5, 60)).reshape(-1, 1)
    shaper = QuantileTransformer(n_quantiles=60, subsample=None).fit(column)
    step = quantile_step(shaper.quantiles_[:, 0].tolist(), shaper.references_.tolist())
    for x in [*step.knots, *rng.uniform(-1, 6, 50)]:
        i = np.searchsorted(step.knots, x)
        if x in step.knots:
            y = step.at[step.knots.index(x)]
        elif i in (0, len(step.knots)):
            y = step.at[0 if i == 0 else -1]
        else:
            share = (x - step.knots[i - 1]) / (step.knots[i] - step.knots[i - 1])
            y = step.after[i - 1] + share * (step.before[i] - step.after[i - 1])
        assert y == pytest.approx(shaper.transform([[x]])[0, 0], abs=1e-14)
