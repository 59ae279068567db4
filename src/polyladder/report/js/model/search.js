/* Zeros and lows of functions that are not polynomials. */

/** A zero between lo and hi of a function of opposite signs there, to a tolerance: the Illinois method. */
export function falsePosition(f, lo, hi, tolerance) {
  const x = [lo, hi];
  const y = [f(lo), f(hi)];
  let last = null;
  for (let step = 0; step < 60 && x[1] - x[0] > tolerance; step++) {
    const t = y[0] === y[1] ? (x[0] + x[1]) / 2 : (x[0] * y[1] - x[1] * y[0]) / (y[1] - y[0]);
    const value = f(t);
    const side = value > 0 === y[1] > 0 ? 1 : 0;
    if (value === 0 || Math.abs(x[side] - t) < tolerance) return t;
    x[side] = t;
    y[side] = value;
    // An end that stays twice would stay for long; half its value draws the next point toward it.
    if (side === last) y[1 - side] /= 2;
    last = side;
  }
  return (x[0] + x[1]) / 2;
}

/** Where a function with one low between lo and hi is lowest: golden section, to a ten-thousandth of the distance. */
export function golden(f, lo, hi) {
  const ratio = (Math.sqrt(5) - 1) / 2;
  let [a, b] = [hi - ratio * (hi - lo), lo + ratio * (hi - lo)];
  let [fa, fb] = [f(a), f(b)];
  for (let step = 0; step < 20; step++) {
    if (fa <= fb) {
      [hi, b, fb] = [b, a, fa];
      a = hi - ratio * (hi - lo);
      fa = f(a);
    } else {
      [lo, a, fa] = [a, b, fb];
      b = lo + ratio * (hi - lo);
      fb = f(b);
    }
  }
  return (lo + hi) / 2;
}
