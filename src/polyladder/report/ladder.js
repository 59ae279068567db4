"use strict";
/*
 * The mathematics of the page: features, ladders, lines through a point. No element of the page is touched here, so the
 * file also runs, and is tested, without one.
 *
 * A model holds `draws` ladders of one shape over `inputs` transformed features, in units of the target. Along one input,
 * all others fixed, each of them is a polynomial in that input's transformed value t: "the line".
 */
const Ladder = (() => {
  /** The float64 numbers of a base64 text, little-endian as written. */
  function decode(text) {
    const binary = atob(text);
    const bytes = new Uint8Array(binary.length);
    for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
    return new Float64Array(bytes.buffer);
  }

  /** A model from its description: where each block of weights starts within the numbers of one draw. */
  function ladder({ draws, inputs, hidden, outputs, weights }) {
    const layers = [];
    let at = 0;
    let width = inputs;
    for (const k of hidden) {
      const layer = { k, p: width, W: at, b: at + k * width };
      layer.V = layer.b + k;
      layer.c = layer.V + k * inputs;
      at = layer.c + k;
      width = k;
      layers.push(layer);
    }
    const offset = at + outputs * width;
    const size = offset + outputs;
    const numbers = typeof weights === "string" ? decode(weights) : Float64Array.from(weights);
    if (numbers.length !== draws * size) throw new Error(`The model needs ${draws * size} weights; got ${numbers.length}.`);
    return { draws, inputs, outputs, layers, width, order: hidden.length + 1, readout: at, offset, size, weights: numbers };
  }

  /** The model with `count` of its draws, evenly picked, or with all if there are no more. */
  function thinned(model, count) {
    if (model.draws <= count) return model;
    const weights = new Float64Array(count * model.size);
    for (let s = 0; s < count; s++) {
      const from = Math.floor(((s + 0.5) * model.draws) / count) * model.size;
      weights.set(model.weights.subarray(from, from + model.size), s * model.size);
    }
    return { ...model, draws: count, weights };
  }

  function dot(w, at, x, from, n) {
    let sum = 0;
    for (let j = 0; j < n; j++) sum += w[at + j] * x[from + j];
    return sum;
  }

  /** Values at one point z, draw by draw and output by output: h <- (W h + b) * (V z + c), then R h + o. */
  function evaluate(model, z) {
    const { draws, inputs: d, outputs: m, layers, width, readout, offset, size, weights: w } = model;
    const out = new Float64Array(draws * m);
    for (let s = 0; s < draws; s++) {
      const o = s * size;
      let h = z;
      for (const { k, p, W, b, V, c } of layers) {
        const next = new Float64Array(k);
        for (let i = 0; i < k; i++) {
          const u = dot(w, o + W + i * p, h, 0, p) + w[o + b + i];
          next[i] = u * (dot(w, o + V + i * d, z, 0, d) + w[o + c + i]);
        }
        h = next;
      }
      for (let i = 0; i < m; i++) out[s * m + i] = dot(w, o + readout + i * width, h, 0, width) + w[o + offset + i];
    }
    return out;
  }

  /** Derivatives of one output with respect to every input at z, draw by draw: one sweep back through the layers. */
  function gradient(model, z, output) {
    const { draws, inputs: d, layers, width, readout, size, weights: w } = model;
    const out = new Float64Array(draws * d);
    for (let s = 0; s < draws; s++) {
      const o = s * size;
      const tape = [];
      let h = z;
      for (const { k, p, W, b, V, c } of layers) {
        const u = new Float64Array(k);
        const gate = new Float64Array(k);
        const next = new Float64Array(k);
        for (let i = 0; i < k; i++) {
          u[i] = dot(w, o + W + i * p, h, 0, p) + w[o + b + i];
          gate[i] = dot(w, o + V + i * d, z, 0, d) + w[o + c + i];
          next[i] = u[i] * gate[i];
        }
        tape.push([u, gate]);
        h = next;
      }
      let back = w.slice(o + readout + output * width, o + readout + (output + 1) * width);
      for (let l = layers.length - 1; l >= 0; l--) {
        const { k, p, W, V } = layers[l];
        const [u, gate] = tape[l];
        const before = new Float64Array(p);
        for (let i = 0; i < k; i++) {
          const du = back[i] * gate[i];
          const dgate = back[i] * u[i];
          for (let j = 0; j < p; j++) before[j] += du * w[o + W + i * p + j];
          for (let j = 0; j < d; j++) out[s * d + j] += dgate * w[o + V + i * d + j];
        }
        back = before;
      }
      for (let j = 0; j < d; j++) out[s * d + j] += back[j];
    }
    return out;
  }

  /**
   * Coefficients, ascending, of every draw and output as polynomials in input `index`, all other inputs as in z.
   * With u_j the coefficients of W h + b, each layer makes a_j = (V z + c) u_j + (column of V) u_(j-1).
   */
  function line(model, z, index) {
    const { draws, inputs: d, outputs: m, layers, width, order, readout, offset, size, weights: w } = model;
    const n = order + 1;
    const out = new Float64Array(draws * m * n);
    const at = Float64Array.from(z);
    at[index] = 0;
    for (let s = 0; s < draws; s++) {
      const o = s * size;
      // One row of coefficients for each power: row 0 is the point, row 1 the direction.
      let h = [at, new Float64Array(d)];
      h[1][index] = 1;
      for (const { k, p, W, b, V, c } of layers) {
        const next = Array.from({ length: h.length + 1 }, () => new Float64Array(k));
        for (let i = 0; i < k; i++) {
          const row = o + V + i * d;
          const constant = dot(w, row, at, 0, d) + w[o + c + i];
          const slope = w[row + index];
          for (let j = 0; j < h.length; j++) {
            const u = dot(w, o + W + i * p, h[j], 0, p) + (j === 0 ? w[o + b + i] : 0);
            next[j][i] += constant * u;
            next[j + 1][i] += slope * u;
          }
        }
        h = next;
      }
      for (let i = 0; i < m; i++) {
        for (let j = 0; j < n; j++) {
          const value = dot(w, o + readout + i * width, h[j], 0, width);
          out[(s * m + i) * n + j] = j === 0 ? value + w[o + offset + i] : value;
        }
      }
    }
    return out;
  }

  function horner(a, t, from = 0, n = a.length) {
    let value = 0;
    for (let j = from + n - 1; j >= from; j--) value = value * t + a[j];
    return value;
  }

  function derivative(a) {
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
  function roots(a, lo, hi) {
    let n = a.length;
    while (n > 1 && a[n - 1] === 0) n--;
    if (n === 1) return [];
    const f = (t) => horner(a, t, 0, n);
    const rounding = (t) => 4 * n * Number.EPSILON * horner(Array.from(a, Math.abs), Math.abs(t), 0, n);
    const cuts = n === 2 ? [lo, hi] : [lo, ...roots(derivative(Array.from(a).slice(0, n)), lo, hi), hi];
    const found = [];
    const add = (t) => {
      if (!found.length || t > found[found.length - 1]) found.push(t);
    };
    for (let i = 0; i < cuts.length; i++) {
      const here = f(cuts[i]);
      // A turning point within rounding of zero touches it.
      if (Math.abs(here) <= rounding(cuts[i])) add(cuts[i]);
      else if (i + 1 < cuts.length) {
        const next = f(cuts[i + 1]);
        if (Math.abs(next) > rounding(cuts[i + 1]) && here > 0 !== next > 0) add(bisect(f, cuts[i], cuts[i + 1]));
      }
    }
    return found;
  }

  // ---- Features -----------------------------------------------------------------------------------------------------

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
  function toQuantile({ knots, levels, mirrored }, x) {
    if (x === knots[0]) return 0;
    if (x === knots[knots.length - 1]) return 1;
    return 0.5 * (interpolate(x, knots, levels) - interpolate(-x, mirrored.knots, mirrored.levels));
  }

  function yeoJohnson(lambda, x) {
    if (x >= 0) {
      const log = Math.log1p(x);
      return Math.abs(lambda) < Number.EPSILON ? log : Math.expm1(lambda * log) / lambda;
    }
    const log = Math.log1p(-x);
    return Math.abs(lambda - 2) > Number.EPSILON ? -Math.expm1((2 - lambda) * log) / (2 - lambda) : -log;
  }

  function yeoJohnsonInverse(lambda, y) {
    if (y >= 0) return Math.expm1(Math.abs(lambda) < Number.EPSILON ? y : Math.log1p(lambda * y) / lambda);
    const other = 2 - lambda;
    return -Math.expm1(Math.abs(other) < Number.EPSILON ? -y : Math.log1p(-other * y) / other);
  }

  /** A column ready for use: numbers decoded, the pieces of its range found. */
  function column(spec) {
    const made = { ...spec };
    if (spec.kind !== "numeric") return made;
    if (spec.shape === "quantile") {
      made.knots = decode(spec.knots);
      made.levels = decode(spec.levels);
      made.mirrored = { knots: made.knots.map((v) => -v).reverse(), levels: made.levels.map((v) => -v).reverse() };
    }
    made.pieces = pieces(made);
    return made;
  }

  function shaped(col, x) {
    if (col.shape === "quantile") return toQuantile(col, x);
    return col.shape === "yeo-johnson" ? yeoJohnson(col.lambda, x) : x;
  }

  /** The transformed value of a number that is present. */
  function forward(col, x) {
    const held = col.clip ? Math.min(Math.max(x, col.low), col.high) : x;
    return (shaped(col, held) - col.mean) / col.scale;
  }

  /**
   * The range of a numeric column in pieces on which the transform is continuous and rising: [{x0, x1, t0, t1}]. Where
   * many rows share one value, quantiles jump: the value is a piece of its own, x0 = x1, and the transformed values
   * between its neighbors and itself are never reached.
   */
  function pieces(col) {
    const t = (level) => (level - col.mean) / col.scale;
    if (col.shape !== "quantile") return [{ x0: col.low, x1: col.high, t0: forward(col, col.low), t1: forward(col, col.high) }];
    const { knots, levels } = col;
    const found = [];
    for (let i = 0; i < knots.length; ) {
      let j = i;
      while (j + 1 < knots.length && knots[j + 1] === knots[i]) j++;
      if (j > i) found.push({ x0: knots[i], x1: knots[i], t0: forward(col, knots[i]), t1: forward(col, knots[i]) });
      if (j + 1 < knots.length) found.push({ x0: knots[j], x1: knots[j + 1], t0: t(levels[j]), t1: t(levels[j + 1]) });
      i = j + 1;
    }
    return found;
  }

  /** The value of the column whose transform, within a piece, is t. */
  function backward(col, piece, t) {
    if (piece.t1 <= piece.t0 || t <= piece.t0) return piece.x0;
    if (t >= piece.t1) return piece.x1;
    if (col.shape === "yeo-johnson") return yeoJohnsonInverse(col.lambda, t * col.scale + col.mean);
    return piece.x0 + ((t - piece.t0) / (piece.t1 - piece.t0)) * (piece.x1 - piece.x0);
  }

  /** d(transformed) / d(value); 0 where clipping holds the value, NaN where the transform jumps. */
  function slope(col, x) {
    if (col.clip && (x < col.low || x > col.high)) return 0;
    if (col.shape === "yeo-johnson") {
      return (x >= 0 ? (1 + x) ** (col.lambda - 1) : (1 - x) ** (1 - col.lambda)) / col.scale;
    }
    if (col.shape !== "quantile") return 1 / col.scale;
    if (x < col.low || x > col.high) return 0;
    if (col.pieces.some((p) => p.x0 === p.x1 && p.x0 === x)) return NaN;
    const piece = col.pieces.find((p) => p.x0 < p.x1 && x >= p.x0 && x < p.x1) ?? col.pieces[col.pieces.length - 1];
    return (piece.t1 - piece.t0) / (piece.x1 - piece.x0);
  }

  /** One row of transformed features. Numbers: NaN is missing. Categories: position in the list, -1 for none of them. */
  function transform(columns, inputs, values) {
    const z = new Float64Array(inputs);
    columns.forEach((col, i) => {
      const x = values[i];
      if (col.kind === "numeric") {
        const gone = Number.isNaN(x);
        z[col.at] = forward(col, gone ? col.fill : x);
        if (col.flag !== null) z[col.flag] = gone ? 1 : 0;
      } else if (col.kind === "category" && x >= 0) z[col.at + x] = 1;
    });
    return z;
  }

  // ---- From ladders to predictions ----------------------------------------------------------------------------------

  /** The standard normal distribution function, to about 1e-15 (G. West, 2005, after Hart). */
  function normal(x) {
    const size = Math.abs(x);
    if (size > 37) return x > 0 ? 1 : 0;
    const power = Math.exp((-size * size) / 2);
    let tail;
    if (size < 7.07106781186547) {
      const above = horner([220.206867912376, 221.213596169931, 112.079291497871, 33.912866078383, 6.37396220353165,
        0.700383064443688, 3.52624965998911e-2], size);
      const below = horner([440.413735824752, 793.826512519948, 637.333633378831, 296.564248779674, 86.7807322029461,
        16.064177579207, 1.75566716318264, 8.83883476483184e-2], size);
      tail = (power * above) / below;
    } else {
      tail = power / (size + 1 / (size + 2 / (size + 3 / (size + 4 / (size + 0.65))))) / 2.506628274631;
    }
    return x > 0 ? 1 - tail : tail;
  }

  function logGamma(x) {
    const c = [76.18009172947146, -86.50532032941677, 24.01409824083091, -1.231739572450155, 1.208650973866179e-3, -5.395239384953e-6];
    let series = 1.000000000190015;
    c.forEach((v, i) => (series += v / (x + 1 + i)));
    return (x + 0.5) * Math.log(x + 5.5) - (x + 5.5) + Math.log((2.5066282746310005 * series) / x);
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
    for (let k = 1; k < 300; k++) {
      const even = (k * (b - k) * x) / ((a + 2 * k - 1) * (a + 2 * k));
      d = 1 / held(1 + even * d);
      c = held(1 + even / c);
      value *= d * c;
      const odd = (-(a + k) * (a + b + k) * x) / ((a + 2 * k) * (a + 2 * k + 1));
      d = 1 / held(1 + odd * d);
      c = held(1 + odd / c);
      value *= d * c;
      if (Math.abs(d * c - 1) < 1e-15) break;
    }
    return front * value;
  }

  /** The distribution function of Student's t; infinitely many degrees of freedom are the normal distribution. */
  function student(x, degrees) {
    if (degrees === Infinity) return normal(x);
    const tail = beta(degrees / 2, 0.5, degrees / (degrees + x * x)) / 2;
    return x > 0 ? 1 - tail : tail;
  }

  const tables = new Map();
  const CELLS = 8192;

  /** `student` at even steps of x / (1 + |x|), for `lookup`. */
  function tableOf(degrees) {
    if (!tables.has(degrees)) {
      const at = (u) => (Math.abs(u) === 1 ? (u + 1) / 2 : student(u / (1 - Math.abs(u)), degrees));
      tables.set(degrees, Float64Array.from({ length: CELLS + 1 }, (_, i) => at((2 * i) / CELLS - 1)));
    }
    return tables.get(degrees);
  }

  /** A distribution function by linear interpolation, to about 1e-7: for charts, which ask millions of times. */
  function lookup(table, x) {
    const at = ((x / (1 + Math.abs(x)) + 1) / 2) * CELLS;
    const k = at < CELLS ? at | 0 : CELLS - 1;
    return table[k] + (at - k) * (table[k + 1] - table[k]);
  }

  /**
   * The value below which a share q of an even mixture of Student's t distributions lies. With `fine` to rounding; else,
   * for charts, to a ten-thousandth of the noise, from tables. `guess` saves time where it is close.
   */
  function mixtureQuantile(means, scales, degrees, q, fine, guess) {
    const n = means.length;
    const each = fine ? null : Array.from(degrees, tableOf);
    const excess = (y) => {
      let sum = 0;
      if (fine) for (let s = 0; s < n; s++) sum += student((y - means[s]) / scales[s], degrees[s]);
      else for (let s = 0; s < n; s++) sum += lookup(each[s], (y - means[s]) / scales[s]);
      return sum / n - q;
    };
    const scale = Math.max(...scales);
    let step = 0.2 * scale;
    let lo = guess - step;
    let hi = guess + step;
    while (excess(lo) > 0) lo -= step *= 2;
    step = 0.2 * scale;
    while (excess(hi) < 0) hi += step *= 2;
    return falsePosition(excess, lo, hi, (fine ? 1e-13 : 1e-4) * scale);
  }

  /** A zero between lo and hi of a function of opposite signs there, to a tolerance: the Illinois method. */
  function falsePosition(f, lo, hi, tolerance) {
    let [flo, fhi] = [f(lo), f(hi)];
    let kept = 0;
    for (let step = 0; step < 60 && hi - lo > tolerance; step++) {
      const t = fhi === flo ? (lo + hi) / 2 : (lo * fhi - hi * flo) / (fhi - flo);
      const ft = f(t);
      if (ft === 0) return t;
      if (ft > 0 === fhi > 0) {
        if (Math.abs(hi - t) < tolerance) return t;
        [hi, fhi] = [t, ft];
        if (kept === 1) flo /= 2;
        kept = 1;
      } else {
        if (Math.abs(t - lo) < tolerance) return t;
        [lo, flo] = [t, ft];
        if (kept === -1) fhi /= 2;
        kept = -1;
      }
    }
    return (lo + hi) / 2;
  }

  function hold(guard, output, value) {
    return guard ? Math.min(Math.max(value, guard.low[output]), guard.high[output]) : value;
  }

  /**
   * Which draws of a posterior are believed: those whose outputs all lie in the guard's range; all, where none does.
   * `raw` holds all outputs of all draws.
   */
  function believed(rule, raw, outputs) {
    const all = Array.from({ length: raw.length / outputs }, (_, s) => s);
    if (!rule.guard) return all;
    const { low, high } = rule.guard;
    const inside = all.filter((s) => {
      for (let o = 0; o < outputs; o++) {
        const value = raw[s * outputs + o];
        if (!(value >= low[o] && value <= high[o])) return false;
      }
      return true;
    });
    return inside.length ? inside : all;
  }

  /**
   * The middle of the draws' values of one output: their mean, then guarded; or the median of those that are believed,
   * which is one of them (of an even number the lower of the two in the middle).
   */
  function center(rule, raw, outputs, output) {
    if (rule.combine === "median") {
      const values = Float64Array.from(believed(rule, raw, outputs), (s) => hold(rule.guard, output, raw[s * outputs + output]));
      return values.sort()[(values.length - 1) >> 1];
    }
    const values = pick(raw, outputs, output);
    let sum = 0;
    for (let s = 0; s < values.length; s++) sum += values[s];
    return hold(rule.guard, output, sum / values.length);
  }

  /**
   * The scale of every draw's noise of one output at z. Its log precision may depend on the features and their squares, and
   * lies at most `tilt` from that of a mean row.
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
   * noise. `raw` holds all outputs of all draws; `fine` and `near` as for `mixtureQuantile`.
   */
  function interval(rule, raw, noise, z, output, tail, { fine = false, near = null } = {}) {
    const chosen = believed(rule, raw, noise.outputs);
    const of = (values) => Float64Array.from(chosen, (s) => values[s]);
    const means = of(pick(raw, noise.outputs, output)).map((value) => hold(rule.guard, output, value));
    const scales = of(noiseScales(noise, z, output));
    const degrees = of(pick(noise.degrees, noise.outputs, output));
    return [tail, 1 - tail].map((q, i) => mixtureQuantile(means, scales, degrees, q, fine, near ? near[i] : means[0]));
  }

  /** Values of one output from those of all: shape (draws,). */
  function pick(values, outputs, output) {
    if (outputs === 1) return values;
    const found = new Float64Array(values.length / outputs);
    for (let s = 0; s < found.length; s++) found[s] = values[s * outputs + output];
    return found;
  }

  /**
   * Probability of every class from scores; one score is the log-odds of the second of two classes. One versus rest:
   * the probabilities of separate models, divided by their sum (in logarithms, as all may be small).
   */
  function probabilities(scores, link) {
    let all = scores.length === 1 ? [0, scores[0]] : Array.from(scores);
    if (link === "one-versus-rest") all = all.map((s) => (s < 0 ? s - Math.log1p(Math.exp(s)) : -Math.log1p(Math.exp(-s))));
    const top = Math.max(...all);
    const powers = all.map((s) => Math.exp(s - top));
    const sum = powers.reduce((a, b) => a + b, 0);
    return powers.map((p) => p / sum);
  }

  /**
   * Adds to `sum` the probabilities of the classes for one draw's outputs f plus standard normal noise: of a positive sum,
   * or of being the largest. No draw is surer than `surest`. The integral for several classes is the same quadrature that
   * the estimator uses.
   */
  function addProbit(sum, outputs, { nodes, weights, surest }, cdf) {
    const m = outputs.length;
    if (m === 1) {
      const f = Math.min(Math.max(outputs[0], -surest), surest);
      sum[0] += cdf(-f);
      sum[1] += cdf(f);
      return;
    }
    const top = Math.max(...outputs);
    const f = outputs.map((v) => Math.max(v - top, -surest));
    const p = new Float64Array(m);
    let total = 0;
    for (let j = 0; j < m; j++) {
      for (let n = 0; n < nodes.length; n++) {
        let product = weights[n];
        for (let c = 0; c < m; c++) if (c !== j) product *= cdf(nodes[n] + f[j] - f[c]);
        p[j] += product;
      }
      total += p[j];
    }
    for (let j = 0; j < m; j++) sum[j] += p[j] / total;
  }

  const coarseNormal = (x) => lookup(tableOf(Infinity), x);

  /** From the outputs of all draws to what is shown: {values} for numbers, {probabilities} for classes. */
  function combine(model, rule, raw, fine) {
    const { draws, outputs } = model;
    if (rule.combine === "draws") {
      const sum = new Array(Math.max(2, outputs)).fill(0);
      const cdf = fine ? normal : coarseNormal;
      for (let s = 0; s < draws; s++) addProbit(sum, raw.subarray(s * outputs, (s + 1) * outputs), rule, cdf);
      return { raw, probabilities: sum.map((p) => p / draws) };
    }
    const values = Array.from({ length: outputs }, (_, i) => center(rule, raw, outputs, i));
    return rule.task === "classification" ? { raw, values, probabilities: probabilities(values, rule.link) } : { raw, values };
  }

  /** What the model says at z; for charts `fine` may be false. */
  function predict(model, rule, z, fine = true) {
    return combine(model, rule, evaluate(model, z), fine);
  }

  /** The shown quantity of an answer: a number, or the probability of a class. */
  function shown(rule, answer, output) {
    return rule.task === "classification" ? answer.probabilities[output] : answer.values[output];
  }

  // ---- The shown quantity along one numeric column --------------------------------------------------------------------

  /**
   * The shown quantity (an output, or the probability of class `output`) as a function of one input's transformed value.
   * While it is a monotone function of one polynomial, that polynomial is `a` and extremes and crossings are exact:
   * roots of its derivative and of itself. A median of draws and a softmax of several scores are not; they are searched
   * on a fine grid and refined.
   */
  function curve(model, rule, z, index, output) {
    const n = model.order + 1;
    const all = line(model, z, index);
    const classes = rule.task === "classification";
    const exact = rule.combine === "mean" && !(classes && model.outputs > 1);
    if (exact) {
      const row = classes ? 0 : output;
      const a = new Float64Array(n);
      for (let s = 0; s < model.draws; s++) for (let j = 0; j < n; j++) a[j] += all[(s * model.outputs + row) * n + j] / model.draws;
      const value = classes
        ? (t) => probabilities([horner(a, t)])[output]
        : (t) => hold(rule.guard, output, horner(a, t));
      return { exact, a, all, value };
    }
    const at = (t) => {
      const found = new Float64Array(model.draws * model.outputs);
      for (let row = 0; row < found.length; row++) found[row] = horner(all, t, row * n, n);
      return found;
    };
    const value = (t) => shown(rule, combine(model, rule, at(t), false), output);
    return { exact, a: null, all, value, at };
  }

  /**
   * Lowest and highest value of a curve over the column's range: {low: {x, y}, high: {x, y}}. An exact curve is asked at
   * the ends of all pieces and at the roots of its derivative; any other is searched from the parts {x, t, y} drawn of it.
   */
  function extremes(curve, col, parts) {
    if (!curve.exact) return { low: searched(curve, col, parts, 1), high: searched(curve, col, parts, -1) };
    let low = null;
    let high = null;
    const ask = (piece, t) => {
      const y = curve.value(t);
      if (low === null || y < low.y) low = { x: backward(col, piece, t), y };
      if (high === null || y > high.y) high = { x: backward(col, piece, t), y };
    };
    const turning = roots(derivative(curve.a), col.pieces[0].t0, col.pieces[col.pieces.length - 1].t1);
    for (const piece of col.pieces) {
      ask(piece, piece.t0);
      for (const t of turning) if (t > piece.t0 && t < piece.t1) ask(piece, t);
      ask(piece, piece.t1);
    }
    return { low, high };
  }

  /** The lowest (way 1) or highest (way -1) of the drawn points, refined between its neighbors. */
  function searched(curve, col, parts, way) {
    let best = null;
    for (const part of parts) part.forEach((p, k) => {
      if (best === null || way * p.y < way * best.y) best = { ...p, before: part[k - 1] ?? p, after: part[k + 1] ?? p };
    });
    const x = golden((v) => way * curve.value(forward(col, v)), best.before.x, best.after.x);
    const y = curve.value(forward(col, x));
    return way * y < way * best.y ? { x, y } : { x: best.x, y: best.y };
  }

  /** Where a function with one low between lo and hi is lowest, by golden section, to a ten-thousandth of their distance. */
  function golden(f, lo, hi) {
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

  /** All values of the column at which the curve takes the wanted value, ascending; `parts` as for `extremes`. */
  function solve(curve, col, wanted, rule, output, parts) {
    if (!curve.exact) {
      const found = [];
      for (const part of parts) {
        for (let k = 0; k + 1 < part.length; k++) {
          if (part[k].y > wanted === part[k + 1].y > wanted) continue;
          found.push(falsePosition((x) => curve.value(forward(col, x)) - wanted, part[k].x, part[k + 1].x, 1e-9 * (col.high - col.low)));
        }
      }
      return found;
    }
    let level = wanted;
    if (rule.task === "classification") {
      if (wanted <= 0 || wanted >= 1) return [];
      level = (output === 1 ? 1 : -1) * Math.log(wanted / (1 - wanted));
    } else if (rule.guard && (wanted < rule.guard.low[output] || wanted > rule.guard.high[output])) return [];
    const a = Array.from(curve.a);
    a[0] -= level;
    const all = roots(a, col.pieces[0].t0, col.pieces[col.pieces.length - 1].t1);
    return col.pieces.flatMap((piece, i) => {
      // Neighboring pieces share an end, which counts once.
      const last = i === col.pieces.length - 1;
      return all.filter((t) => t >= piece.t0 && (t < piece.t1 || (last && t === piece.t1))).map((t) => backward(col, piece, t));
    });
  }

  /**
   * Points {x, t} along the column for drawing, about `count` of them and even in x, in parts: where the transform jumps
   * by more than 1 % of its range, one part ends at the limit from the left and the next begins at that from the right.
   */
  function samples(col, count) {
    if (!(col.high > col.low)) return [[{ x: col.low, t: forward(col, col.low) }]];
    const range = col.pieces[col.pieces.length - 1].t1 - col.pieces[0].t0;
    const parts = [];
    let part = [];
    let from = { x: col.low, t: col.pieces[0].t0 };
    const fill = (to) => {
      const n = Math.max(1, Math.round((count * (to.x - from.x)) / (col.high - col.low)));
      part.push(from);
      for (let i = 1; i < n; i++) {
        const x = from.x + ((to.x - from.x) * i) / n;
        part.push({ x, t: forward(col, x) });
      }
      part.push(to);
    };
    col.pieces.forEach((piece, i) => {
      if (piece.x0 < piece.x1) return;
      const left = i > 0 ? col.pieces[i - 1].t1 : piece.t0;
      const right = i + 1 < col.pieces.length ? col.pieces[i + 1].t0 : piece.t0;
      if (right - left < 0.01 * range) return;
      if (i > 0) fill({ x: piece.x0, t: left });
      if (part.length) parts.push(part);
      parts.push([{ x: piece.x0, t: piece.t0 }]);
      part = [];
      from = { x: piece.x0, t: right };
    });
    if (from.x < col.high) fill({ x: col.high, t: col.pieces[col.pieces.length - 1].t1 });
    if (part.length) parts.push(part);
    return parts;
  }

  return {
    decode, ladder, thinned, evaluate, gradient, line, horner, derivative, bisect, roots, column, forward, backward, slope, transform,
    normal, student, mixtureQuantile, falsePosition, hold, believed, center, interval, pick, probabilities, predict, shown, curve, extremes, solve, samples,
  };
})();

if (typeof module !== "undefined") module.exports = Ladder;
