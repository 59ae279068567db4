/* Polynomials in one variable, ascending coefficients: values, derivatives and all real roots. */

/** The value at t of the polynomial whose n coefficients start at `from`. */
export function horner(a, t, from = 0, n = a.length) {
  let value = 0;
  for (let j = from + n - 1; j >= from; j--) value = value * t + a[j];
  return value;
}

export function derivative(a) {
  return Array.from({ length: Math.max(1, a.length - 1) }, (_, j) => (a.length > 1 ? (j + 1) * a[j + 1] : 0));
}

/** The t between lo and hi at which a continuous function, of opposite signs at both, is zero, to the last bit. */
function bisect(f, lo, hi) {
  const rising = f(hi) > f(lo);
  for (let step = 0; step < 200; step++) {
    const mid = (lo + hi) / 2;
    if (mid <= lo || mid >= hi) break;
    if (f(mid) > 0 === rising) hi = mid;
    else lo = mid;
  }
  return (lo + hi) / 2;
}

/** All real roots of a polynomial in [lo, hi]. Between the roots of its derivative it is monotone: one root at most. */
export function roots(a, lo, hi) {
  let n = a.length;
  while (n > 1 && a[n - 1] === 0) n--;
  if (n === 1) return [];
  const f = (t) => horner(a, t, 0, n);
  const sizes = Array.from(a, Math.abs);
  // A turning point within rounding of zero touches it.
  const sign = (t) =>
    Math.abs(f(t)) <= 4 * n * Number.EPSILON * horner(sizes, Math.abs(t), 0, n) ? 0 : Math.sign(f(t));
  const turning = n === 2 ? [] : roots(derivative(Array.from(a).slice(0, n)), lo, hi);
  const cuts = [lo, ...turning, hi];
  const found = [];
  cuts.forEach((t, i) => {
    const next = cuts[i + 1];
    let root = null;
    if (sign(t) === 0) root = t;
    else if (next !== undefined && sign(t) * sign(next) < 0) root = bisect(f, t, next);
    if (root !== null && !(root <= found[found.length - 1])) found.push(root);
  });
  return found;
}
