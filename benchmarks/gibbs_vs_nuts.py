"""How many effective draws a second does the Gibbs sampler give, against NUTS on the same posterior?

A small ladder with Gaussian noise, Gamma priors on the blocks' precisions and on the noise's. What counts are
predictions at the training rows: weights are not identified. NUTS gets non-centered weights, which suits it, compiled
code and its usual target acceptance; compilation is not counted. Chains start at random. NUTS runs 4 chains one after
the other; Gibbs 4 and again 64, which share their programs, with as many draws in all. Counted are processor seconds
from the first warm-up sweep to the last draw. NUTS takes NumPyro:

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

from polyladder import effective_sample_size, random_start, sample_gibbs, split_rhat
from polyladder.training.bayes.gibbs import Priors

INPUTS = 3
FEW, MANY = 4, 64
WARMUP = {"Gibbs": 200, "NUTS": 500}
"""Sweeps of each chain that are thrown away; NUTS settles its step size and mass matrix in them."""

Array = np.ndarray[Any, Any]


def gibbs(x: Array, y: Array, hidden: tuple[int, ...], chains: int, draws: int) -> tuple[Any, float]:
    """Predictions (chains, draws, n) and processor seconds."""
    rows, target = torch.from_numpy(x), torch.from_numpy(y)
    start = random_start(INPUTS, hidden, 1, range(chains), chains)
    began = time.process_time()
    found = sample_gibbs(start, rows, target, warmup=WARMUP["Gibbs"], draws=draws)
    seconds = time.process_time() - began
    return found.weights(rows)[..., 0].transpose(0, 1), seconds


def nuts(x: Array, y: Array, hidden: tuple[int, ...], chains: int, draws: int) -> tuple[Any, float]:
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
        num_warmup=WARMUP["NUTS"],
        num_samples=draws,
        num_chains=chains,
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
    parser.add_argument("--gibbs", type=int, default=16_000, help="draws of Gibbs, all chains together")
    parser.add_argument("--nuts", type=int, default=4_000, help="draws of NUTS, all chains together")
    parser.add_argument("--noise", type=float, default=0.3)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    x = rng.standard_normal((arguments.rows, INPUTS))
    y = x[:, 0] * x[:, 1] + 0.5 * np.sin(2 * x[:, 2]) + arguments.noise * rng.standard_normal(arguments.rows)
    y = (y - y.mean()) / y.std()
    hidden = tuple(arguments.hidden)
    rates, means = [], []
    for name, run, chains, total in (
        ("Gibbs", gibbs, FEW, arguments.gibbs),
        ("Gibbs", gibbs, MANY, arguments.gibbs),
        ("NUTS", nuts, FEW, arguments.nuts),
    ):
        f, seconds = run(x, y, hidden, chains, total // chains)
        size, rhat = effective_sample_size(f).median().item(), split_rhat(f).median().item()
        rates.append(size / seconds)
        means.append(f.mean((0, 1)))
        print(
            f"{name:6s} {chains:2d} chains x {f.shape[1]} draws in {seconds:7.1f} s; "
            f"R-hat {rhat:.3f}; {size:7.0f} effective, {size / seconds:8.1f} a second",
            flush=True,
        )
    print(
        f"Gibbs / NUTS: {rates[0] / rates[2]:.1f} with {FEW} chains, {rates[1] / rates[2]:.1f} with {MANY}; "
        f"posterior means differ by {(means[1] - means[2]).abs().median():.3f} (median)"
    )


if __name__ == "__main__":
    main()
