/* Intervals of a posterior: every believed draw with its own noise, an even mixture of Student's t distributions. */
import { lookup, student, tableOf } from "./distributions.js";
import { believed, hold, mean, pick } from "./draws.js";
import { falsePosition } from "./search.js";

/**
 * The value below which a share q of an even mixture of Student's t distributions lies. With `fine` to rounding; else,
 * for charts, to a ten-thousandth of the noise, from tables. `guess` saves time where it is close.
 */
export function mixtureQuantile(means, scales, degrees, q, fine, guess) {
  const n = means.length;
  const each = fine ? null : Array.from(degrees, tableOf);
  const excess = (y) => {
    let sum = 0;
    if (fine) for (let s = 0; s < n; s++) sum += student((y - means[s]) / scales[s], degrees[s]);
    else for (let s = 0; s < n; s++) sum += lookup(each[s], (y - means[s]) / scales[s]);
    return sum / n - q;
  };
  const scale = Math.max(...scales);
  const beyond = (way) => {
    let step = 0.2 * scale;
    let y = guess + way * step;
    while (way * excess(y) < 0) {
      step *= 2;
      y += way * step;
    }
    return y;
  };
  return falsePosition(excess, beyond(-1), beyond(1), (fine ? 1e-13 : 1e-4) * scale);
}

/**
 * The scale of every draw's noise of one output at z. Its log precision may depend on the features and their squares,
 * and lies at most `tilt` from that of a mean row.
 */
function noiseScales({ scales, slopes, tilt, outputs }, z, output) {
  const draws = scales.length / outputs;
  const d = slopes.length / scales.length / 2;
  const found = new Float64Array(draws);
  for (let s = 0; s < draws; s++) {
    const row = s * outputs + output;
    let sum = 0;
    for (let j = 0; j < d; j++) {
      const x = Math.min(Math.max(z[j], -3), 3);
      sum += slopes[2 * d * row + j] * x + (slopes[2 * d * row + d + j] * (x * x - 1)) / 2;
    }
    found[s] = scales[row] * Math.exp((-tilt * Math.tanh(sum / tilt)) / 2);
  }
  return found;
}

/**
 * The central interval that leaves out `tail` on either side: the values of the believed draws at z, each with its own
 * noise. `raw` holds all outputs of all draws; `fine` and `near` (a pair of guesses) as for `mixtureQuantile`.
 */
export function interval(rule, raw, noise, z, output, tail, { fine = false, near = null } = {}) {
  const chosen = believed(rule, raw, noise.outputs);
  const of = (values) => Float64Array.from(chosen, (s) => values[s]);
  const means = of(pick(raw, noise.outputs, output)).map((value) => hold(rule.guard, output, value));
  const scales = of(noiseScales(noise, z, output));
  const degrees = of(pick(noise.degrees, noise.outputs, output));
  return [tail, 1 - tail].map((q, i) => mixtureQuantile(means, scales, degrees, q, fine, near ? near[i] : means[0]));
}

/** Standard deviation of a new observation of one output at z: the believed draws, each with its own noise. */
export function deviation(rule, raw, noise, z, output) {
  const chosen = believed(rule, raw, noise.outputs);
  const values = chosen.map((s) => hold(rule.guard, output, raw[s * noise.outputs + output]));
  const scales = noiseScales(noise, z, output);
  const degrees = pick(noise.degrees, noise.outputs, output);
  const middle = mean(values);
  const spread = chosen.map((s, i) => {
    const heavier = Number.isFinite(degrees[s]) ? degrees[s] / Math.max(degrees[s] - 2, 0) : 1;
    return (values[i] - middle) ** 2 + scales[s] ** 2 * heavier;
  });
  return Math.sqrt(mean(spread));
}
