/* The row that the page is about, what the model says of it, and who wants to know when it changes. */
import { forward, inputsAlong, slope, transform } from "../model/columns.js";
import { interval } from "../model/interval.js";
import { predict, shown } from "../model/prediction.js";
import { inputSlopes } from "../model/slopes.js";
import { halfWidths } from "../model/spread.js";
import { charted, classes, columns, data, model, noise, rule, spread } from "./content.js";

/** Values of all columns (NaN: missing, categories by position), the output that is shown, features and answer. */
export const row = {
  values: columns.map((c) => c.start ?? Number.NaN),
  output: classes && data.outputs.length === 2 ? 1 : 0,
  z: null,
  answer: null,
};

/** The value of a number or category, or a typical one where it is missing. */
export const presentValue = (i) => (Number.isNaN(row.values[i]) ? columns[i].start : row.values[i]);

export function compute() {
  row.z = transform(columns, model.inputs, row.values);
  row.answer = predict(model, rule, row.z);
}

const listeners = [];

/** Call a function with the list of columns that were set, whenever some were. */
export function onSet(listener) {
  listeners.push(listener);
}

/** Set some columns ({column: value}) and tell everyone. */
export function set(changes) {
  const moved = Object.keys(changes).map(Number);
  for (const i of moved) row.values[i] = changes[i];
  compute();
  for (const listener of listeners) listener(moved);
}

/** The shown quantity of an answer. */
export const shownValue = (answer) => shown(rule, answer, row.output);

/**
 * The error band [low, high] around a value at the inputs z of a row of values: around the center, or of the draws with
 * their noise. `raw` gives all outputs of all draws there; options as for `interval`. A model with a spread has a band
 * within it: [low, high, inner low, inner high].
 */
export function bandOf(value, values, z, raw, options) {
  if (spread) {
    const [inner, outer] = halfWidths(spread, values, z, row.output);
    return [value - outer, value + outer, value - inner, value + inner];
  }
  if (data.band.kind === "residuals") {
    const half = data.band.half[Math.min(row.output, data.band.half.length - 1)];
    return [value - half, value + half];
  }
  if (data.band.kind !== "draws") return null;
  const tail = (1 - data.band.level / 100) / 2;
  return interval(rule, raw(), noise, z, row.output, tail, options);
}

/** Partial derivatives of the shown quantity, in the columns' units; NaN where there is none. */
export function slopes() {
  const byInput = inputSlopes(charted, rule, row.z, row.answer, row.output);
  return columns.map((col, i) => {
    if (col.kind !== "numeric" || Number.isNaN(row.values[i])) return Number.NaN;
    let total = 0;
    for (const [k, along] of inputsAlong(col, forward(col, row.values[i]))) total += byInput(k) * along;
    return total * slope(col, row.values[i]);
  });
}

/** The values that a vertical axis shared by all charts must hold. */
export function sharedRange() {
  if (classes) return [0, 1];
  const [low, high] = data.range[row.output];
  const margin = 0.05 * (high - low);
  return [low - margin, high + margin];
}
