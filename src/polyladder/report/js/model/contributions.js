/* What each column contributes to an output at z, from a start on: integrated gradients, exact for polynomials. */
import { evaluate, gradient } from "./ladder.js";

/** The features of z that a column becomes: none for a constant, but for whether it is missing. */
function inputsOf(col) {
  if (col.kind === "category") return col.categories.map((_, k) => col.at + k);
  const others = [...(col.ramps?.at ?? []), ...(col.functions ?? []).map(([k]) => k)];
  return [col.at, col.flag, ...others].filter((j) => j !== null && j !== undefined);
}

function middle(values, outputs, output) {
  let sum = 0;
  for (let s = output; s < values.length; s += outputs) sum += values[s];
  return (sum * outputs) / values.length;
}

/**
 * {start, end, parts: [{i, value, low, high}]}: the mean over draws of one output at the start and at z, and what each
 * column adds on the way; low and high hold 90 % of the draws. `way` has the start and the nodes of Gauss's rule.
 */
export function contributions(model, columns, way, z, output) {
  const { draws, inputs: d } = model;
  const sums = new Float64Array(draws * d);
  way.nodes.forEach((node, n) => {
    const slopes = gradient(
      model,
      z.map((v, j) => way.start[j] + node * (v - way.start[j])),
      output,
    );
    for (let k = 0; k < sums.length; k++) sums[k] += way.weights[n] * slopes[k];
  });
  const parts = [];
  columns.forEach((col, i) => {
    const inputs = inputsOf(col);
    if (!inputs.length) return;
    const each = new Float64Array(draws);
    for (const j of inputs) {
      for (let s = 0; s < draws; s++) each[s] += sums[s * d + j] * (z[j] - way.start[j]);
    }
    const value = middle(each, 1, 0);
    each.sort();
    const at = (share) => each[Math.round(share * (draws - 1))];
    parts.push({ i, value, low: at(0.05), high: at(0.95) });
  });
  return {
    start: middle(evaluate(model, way.start), model.outputs, output),
    end: middle(evaluate(model, z), model.outputs, output),
    parts,
  };
}
