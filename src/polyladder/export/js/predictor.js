/* The page's evaluator with elementary steps in front of it: from a row of a table to answers. */
import { believed, hold } from "../../report/js/model/draws.js";
import { decode, ladder } from "../../report/js/model/ladder.js";
import { predict } from "../../report/js/model/prediction.js";
import { yeoJohnson } from "../../report/js/model/shapes.js";

/** A number held to a range; NaN stays NaN. */
const held = (x, low, high) => Math.min(Math.max(x, low), high);

/** Piecewise linear with jumps: see the step of that name. */
function quantile(x, { knots, before, at, after }) {
  const last = knots.length - 1;
  if (x <= knots[0]) return at[0];
  if (x >= knots[last]) return at[last];
  let lo = 0;
  let hi = last;
  while (hi - lo > 1) {
    const mid = (lo + hi) >> 1;
    if (knots[mid] <= x) lo = mid;
    else hi = mid;
  }
  if (x === knots[lo]) return at[lo];
  return after[lo] + (before[hi] - after[lo]) * ((x - knots[lo]) / (knots[hi] - knots[lo]));
}

const STEPS = {
  Fill: (x, { value }) => (Number.isNaN(x) ? value : x),
  Clip: (x, { low, high }) => held(x, low, high),
  Affine: (x, { shift, scale }) => (x - shift) / scale,
  Ramp: (x, { low, high }) => held((x - low) / (high - low), 0, 1),
  YeoJohnson: (x, { power }) => yeoJohnson(power, x),
  Quantile: quantile,
  IsMissing: (x) => (Number.isNaN(x) ? 1 : 0),
  IsCategory: (x, { category }) => (x === category ? 1 : 0),
};

/** Variance of one draw's noise of one output at z, and how it depends on the features. */
function noiseVariance({ variance, slopes, tilt }, z, row) {
  const d = slopes.length / variance.length / 2;
  let sum = 0;
  for (let j = 0; j < d; j++) {
    const x = held(z[j], -3, 3);
    sum += slopes[2 * d * row + j] * x + (slopes[2 * d * row + d + j] * (x * x - 1)) / 2;
  }
  return d ? variance[row] * Math.exp(-tilt * Math.tanh(sum / tilt)) : variance[row];
}

/** Standard deviation of a new observation of one output. */
function deviation(model, rule, noise, raw, z, output) {
  const chosen = believed(rule, raw, model.outputs);
  const values = chosen.map((s) => hold(rule.guard, output, raw[s * model.outputs + output]));
  const mean = values.reduce((a, b) => a + b, 0) / values.length;
  let sum = 0;
  chosen.forEach((s, i) => {
    sum += (values[i] - mean) ** 2 + noiseVariance(noise, z, s * model.outputs + output);
  });
  return Math.sqrt(sum / chosen.length);
}

/** A cell as a number, NaN where it is missing, or as a text, null where it is missing. */
function cell(kind, given) {
  const gone = given === null || given === undefined || Number.isNaN(given);
  if (kind === "number") return gone ? Number.NaN : Number(given);
  return gone ? null : String(given);
}

/** A model from what an export carries: {columns, answers, labels, features, predict, label}. */
export function predictor(data) {
  const model = ladder(data.model);
  const { rule } = data;
  if (rule.combine === "draws") for (const name of ["nodes", "weights"]) rule[name] = decode(rule[name]);
  const noise = data.noise && {
    tilt: data.noise.tilt,
    variance: decode(data.noise.variance),
    slopes: decode(data.noise.slopes),
  };

  /** The inputs of the ladders for a row: an object by column names, or an array in the order of `columns`. */
  function features(row) {
    return Float64Array.from(data.features, ({ column, steps }) => {
      const { name, kind } = data.columns[column];
      const x = cell(kind, Array.isArray(row) ? row[column] : row[name]);
      return steps.reduce((value, step) => STEPS[step.kind](value, step), x);
    });
  }

  /** The answers for a row, in the order of `answers`. */
  function answer(row) {
    const z = features(row);
    const found = predict(model, rule, z);
    if (rule.task === "classification") return Array.from(found.probabilities);
    const values = Array.from(found.values);
    if (!noise) return values;
    return values.concat(values.map((_, j) => deviation(model, rule, noise, found.raw, z, j)));
  }

  /** The most probable class of a row. */
  function label(row) {
    const p = answer(row);
    return data.labels[p.indexOf(Math.max(...p))];
  }

  const columns = data.columns.map((c) => c.name);
  return { columns, answers: data.answers, labels: data.labels, features, predict: answer, label };
}
