"""How many effective draws a second does the Gibbs sampler give, against NUTS on the same posterior?

A small ladder with Gaussian noise, Gamma priors on the blocks' precisions and on the noise's. What counts are
predictions at the training rows: weights are not identified. NUTS gets non-centered weights, which suits it, compiled
code and its usual target acceptance; compilation is not counted. Both run four chains from random starts; counted are
processor seconds from the first warm-up sweep to the last draw. NUTS takes NumPyro:

    pip install numpyro

Run: python benchmarks/gibbs_vs_nuts.py [--rows 100] [--hidden 4 4]
"""

from __future__ import annotations

import argparse
import os
import time
from typing import Any

os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")

import numpy as np
import torch

from polyladder.training.alternating import random_start
from polyladder.training.diagnostics import effective_sample_size, split_rhat
from polyladder.training.gibbs import Priors, sample_gibbs

CHAINS, INPUTS = 4, 3


def gibbs(x: np.ndarray[Any, Any], y: np.ndarray[Any, Any], hidden: tuple[int, ...], sweeps: int) -> tuple[Any, float]:
    """Predictions (chains, draws, n) and processor seconds."""
    rows, target = torch.from_numpy(x), torch.from_numpy(y)
    start = random_start(INPUTS, hidden, 1, range(CHAINS), CHAINS)
    began = time.process_time()
    found = sample_gibbs(start, rows, target, warmup=sweeps // 2, draws=sweeps)
    seconds = time.process_time() - began
    return found.weights(rows)[..., 0].transpose(0, 1), seconds


def nuts(x: np.ndarray[Any, Any], y: np.ndarray[Any, Any], hidden: tuple[int, ...], draws: int) -> tuple[Any, float]:
    """Predictions (chains, draws, n) and processor seconds."""
    import jax
    import numpyro
    from jax import numpy as jnp
    from numpyro import distributions as dist

    numpyro.enable_x64()
    priors = Priors()

    def block(name: str, k: int, q: int) -> Any:
        alpha = numpyro.sample(f"{name} precision", dist.Gamma(priors.weights.shape, priors.weights.rate))
        return numpyro.sample(name, dist.Normal(0, 1).expand([k, q]).to_event(2)) / jnp.sqrt(alpha)

    def model(x: Any, y: Any) -> None:
        ones = jnp.ones((len(x), 1))
        inputs = jnp.concatenate([x, ones], 1)
        h = inputs
        for l, k in enumerate(hidden):
            u = h @ block(f"W{l}", k, h.shape[1]).T
            h = jnp.concatenate([u * (inputs @ block(f"V{l}", k, inputs.shape[1]).T), ones], 1)
        offset = numpyro.sample("offset", dist.Normal(0, priors.offset**0.5))
        f = numpyro.deterministic("f", h[:, :-1] @ block("R", 1, h.shape[1] - 1)[0] + offset)
        tau = numpyro.sample("tau", dist.Gamma(priors.noise.shape, priors.noise.rate))
        numpyro.sample("y", dist.Normal(f, 1 / jnp.sqrt(tau)), obs=y)

    sampler = numpyro.infer.MCMC(
        numpyro.infer.NUTS(model),
        num_warmup=draws // 2,
        num_samples=draws,
        num_chains=CHAINS,
        chain_method="sequential",
        progress_bar=False,
    )
    # The first run compiles; the second is timed.
    sampler.run(jax.random.PRNGKey(0), jnp.asarray(x), jnp.asarray(y))
    began = time.process_time()
    sampler.run(jax.random.PRNGKey(1), jnp.asarray(x), jnp.asarray(y))
    f = np.asarray(sampler.get_samples(group_by_chain=True)["f"])
    return torch.from_numpy(f.copy()), time.process_time() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100)
    parser.add_argument("--hidden", type=int, nargs="+", default=[4])
    parser.add_argument("--sweeps", type=int, default=4000, help="draws of a Gibbs chain, after half as many")
    parser.add_argument("--draws", type=int, default=1000, help="draws of a NUTS chain, after half as many")
    parser.add_argument("--noise", type=float, default=0.3)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    x = rng.standard_normal((arguments.rows, INPUTS))
    y = x[:, 0] * x[:, 1] + 0.5 * np.sin(2 * x[:, 2]) + arguments.noise * rng.standard_normal(arguments.rows)
    y = (y - y.mean()) / y.std()
    hidden = tuple(arguments.hidden)
    rates, means = {}, {}
    for name, run in (
        ("Gibbs", lambda: gibbs(x, y, hidden, arguments.sweeps)),
        ("NUTS", lambda: nuts(x, y, hidden, arguments.draws)),
    ):
        f, seconds = run()
        size, rhat = effective_sample_size(f).median().item(), split_rhat(f).median().item()
        rates[name], means[name] = size / seconds, f.mean((0, 1))
        print(
            f"{name:6s} {f.shape[1]} draws x {CHAINS} chains in {seconds:7.1f} s; "
            f"R-hat {rhat:.3f}; {size:7.0f} effective, {rates[name]:8.1f} a second"
        )
    apart = (means["Gibbs"] - means["NUTS"]).abs()
    print(
        f"Gibbs / NUTS: {rates['Gibbs'] / rates['NUTS']:.1f}; posterior means differ by {apart.median():.3f} (median)"
    )


if __name__ == "__main__":
    main()
