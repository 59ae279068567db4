/* The two curved transforms of a number: quantiles, as scikit-learn's QuantileTransformer has them, and Yeo-Johnson. */

/** Linear interpolation, as numpy.interp; of repeated knots the last counts. */
function interpolate(x, knots, levels) {
  const last = knots.length - 1;
  if (x >= knots[last]) return levels[last];
  if (x < knots[0]) return levels[0];
  let lo = 0;
  let hi = last;
  while (hi - lo > 1) {
    const mid = (lo + hi) >> 1;
    if (knots[mid] <= x) lo = mid;
    else hi = mid;
  }
  if (knots[lo] === x) return levels[lo];
  return ((levels[lo + 1] - levels[lo]) / (knots[lo + 1] - knots[lo])) * (x - knots[lo]) + levels[lo];
}

/** A value's quantile: the mean of interpolating upward and downward, which differ at repeated values. */
export function toQuantile({ knots, levels, mirrored }, x) {
  if (x === knots[0]) return 0;
  if (x === knots[knots.length - 1]) return 1;
  return 0.5 * (interpolate(x, knots, levels) - interpolate(-x, mirrored.knots, mirrored.levels));
}

export function yeoJohnson(lambda, x) {
  if (x >= 0) {
    const log = Math.log1p(x);
    return Math.abs(lambda) < Number.EPSILON ? log : Math.expm1(lambda * log) / lambda;
  }
  const log = Math.log1p(-x);
  return Math.abs(lambda - 2) > Number.EPSILON ? -Math.expm1((2 - lambda) * log) / (2 - lambda) : -log;
}

export function yeoJohnsonInverse(lambda, y) {
  if (y >= 0) return Math.expm1(Math.abs(lambda) < Number.EPSILON ? y : Math.log1p(lambda * y) / lambda);
  const other = 2 - lambda;
  return -Math.expm1(Math.abs(other) < Number.EPSILON ? -y : Math.log1p(-other * y) / other);
}

export function yeoJohnsonSlope(lambda, x) {
  return x >= 0 ? (1 + x) ** (lambda - 1) : (1 - x) ** (1 - lambda);
}
