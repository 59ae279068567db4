/* Distribution functions, to rounding and, for charts, by table. */
import { horner } from "./roots.js";

const ABOVE = [
  220.206867912376, 221.213596169931, 112.079291497871, 33.912866078383, 6.37396220353165, 0.700383064443688,
  3.52624965998911e-2,
];
const BELOW = [
  440.413735824752, 793.826512519948, 637.333633378831, 296.564248779674, 86.7807322029461, 16.064177579207,
  1.75566716318264, 8.83883476483184e-2,
];

/** The standard normal distribution function, to about 1e-15 (G. West, 2005, after Hart). */
export function normal(x) {
  const size = Math.abs(x);
  if (size > 37) return x > 0 ? 1 : 0;
  const power = Math.exp((-size * size) / 2);
  const tail =
    size < 7.07106781186547
      ? (power * horner(ABOVE, size)) / horner(BELOW, size)
      : power / (size + 1 / (size + 2 / (size + 3 / (size + 4 / (size + 0.65))))) / 2.506628274631;
  return x > 0 ? 1 - tail : tail;
}

const LANCZOS = [
  76.18009172947146, -86.50532032941678, 24.01409824083091, -1.231739572450155, 1.208650973866179e-3,
  -5.395239384953e-6,
];

function logGamma(x) {
  const series = LANCZOS.reduce((sum, v, i) => sum + v / (x + 1 + i), 1.000000000190015);
  return (x + 0.5) * Math.log(x + 5.5) - (x + 5.5) + Math.log((2.5066282746310007 * series) / x);
}

/** The regularized incomplete beta function, by its continued fraction (modified Lentz). */
function beta(a, b, x) {
  if (x <= 0 || x >= 1) return x <= 0 ? 0 : 1;
  // The fraction converges fast on this side only.
  if (x > (a + 1) / (a + b + 2)) return 1 - beta(b, a, 1 - x);
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x)) / a;
  const held = (v) => (Math.abs(v) < 1e-300 ? 1e-300 : v);
  let c = 1;
  let d = 1 / held(1 - ((a + b) * x) / (a + 1));
  let value = d;
  const multiply = (term) => {
    d = 1 / held(1 + term * d);
    c = held(1 + term / c);
    value *= d * c;
  };
  for (let k = 1; k < 300; k++) {
    multiply((k * (b - k) * x) / ((a + 2 * k - 1) * (a + 2 * k)));
    multiply((-(a + k) * (a + b + k) * x) / ((a + 2 * k) * (a + 2 * k + 1)));
    if (Math.abs(d * c - 1) < 1e-15) break;
  }
  return front * value;
}

/** The distribution function of Student's t; infinitely many degrees of freedom are the normal distribution. */
export function student(x, degrees) {
  if (degrees === Number.POSITIVE_INFINITY) return normal(x);
  const tail = beta(degrees / 2, 0.5, degrees / (degrees + x * x)) / 2;
  return x > 0 ? 1 - tail : tail;
}

const tables = new Map();
const CELLS = 8192;

/** `student` at even steps of x / (1 + |x|), for `lookup`. */
export function tableOf(degrees) {
  if (!tables.has(degrees)) {
    const at = (u) => (Math.abs(u) === 1 ? (u + 1) / 2 : student(u / (1 - Math.abs(u)), degrees));
    tables.set(
      degrees,
      Float64Array.from({ length: CELLS + 1 }, (_, i) => at((2 * i) / CELLS - 1)),
    );
  }
  return tables.get(degrees);
}

/** A distribution function by linear interpolation, to about 1e-7: for charts, which ask millions of times. */
export function lookup(table, x) {
  const at = ((x / (1 + Math.abs(x)) + 1) / 2) * CELLS;
  const k = at < CELLS ? at | 0 : CELLS - 1;
  return table[k] + (at - k) * (table[k + 1] - table[k]);
}
