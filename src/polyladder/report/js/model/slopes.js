/* Derivatives of the shown quantity with respect to transformed features, at one row. */
import { believed, hold, lowerMedian, mean, pick } from "./draws.js";
import { gradient } from "./ladder.js";
import { predict, shown } from "./prediction.js";

/** A function that gives, for an input, the derivative with respect to its transformed value; `answer` is that at z. */
export function inputSlopes(model, rule, z, answer, output) {
  if (rule.combine === "draws") return (j) => difference(model, rule, z, output, j);
  if (rule.task === "classification") return classSlopes(model, rule, z, answer, output);
  const raw = gradient(model, z, output);
  if (rule.combine === "median") return medianSlopes(model, rule, raw, answer, output);
  const value = answer.values[output];
  const held = rule.guard && (value <= rule.guard.low[output] || value >= rule.guard.high[output]);
  return (j) => (held ? 0 : mean(pick(raw, model.inputs, j)));
}

/** A mean of probabilities over draws: the central difference along one line. */
function difference(model, rule, z, output, j) {
  const step = 1e-4;
  const at = (t) => {
    const moved = Float64Array.from(z);
    moved[j] += t;
    return shown(rule, predict(model, rule, moved), output);
  };
  return (at(step) - at(-step)) / (2 * step);
}

/**
 * Draws that the guard holds do not move. The middle of the believed draws' slopes says more than that of the one draw
 * which happens to be the median.
 */
function medianSlopes(model, rule, raw, answer, output) {
  const values = pick(answer.raw, model.outputs, output);
  const chosen = believed(rule, answer.raw, model.outputs);
  return (j) => {
    const each = pick(raw, model.inputs, j);
    return lowerMedian(
      Float64Array.from(chosen, (s) => (hold(rule.guard, output, values[s]) === values[s] ? each[s] : 0)),
    );
  };
}

/** From slopes of scores to the slope of a probability. */
function classSlopes(model, rule, z, answer, output) {
  const p = answer.probabilities;
  const scores = Array.from({ length: model.outputs }, (_, k) => {
    const raw = gradient(model, z, k);
    return (j) => mean(pick(raw, model.inputs, j));
  });
  if (model.outputs === 1) return (j) => (output === 1 ? 1 : -1) * p[0] * p[1] * scores[0](j);
  // One versus rest reads log(sigmoid(score)), whose slope is 1 - sigmoid.
  const link = (k) => (rule.link === "one-versus-rest" ? 1 / (1 + Math.exp(answer.values[k])) : 1);
  return (j) => {
    const all = scores.map((slope, k) => link(k) * slope(j));
    const middle = all.reduce((sum, g, k) => sum + p[k] * g, 0);
    return p[output] * (all[output] - middle);
  };
}
