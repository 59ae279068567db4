/* From a row of a table, as it is written, to answers: what an exported script offers. */
import { transform } from "./columns.js";
import { deviation } from "./interval.js";
import { predict } from "./prediction.js";
import { unpacked } from "./unpack.js";

/** A cell as `transform` takes it: a number, NaN where it is missing, or the position of a category, -1 for none. */
function cell(col, given) {
  const gone = given === null || given === undefined || Number.isNaN(given);
  if (col.kind === "category") return col.categories.indexOf(gone ? null : String(given));
  return gone ? Number.NaN : Number(given);
}

/** A model from what an export carries: {columns, answers, labels, features, predict, label}. */
export function predictor(data) {
  const { model, rule, columns, noise } = unpacked(data);
  const names = columns.map((c) => c.name);

  /** The inputs of the ladders for a row: an object by column names, or an array in the order of `columns`. */
  function features(row) {
    const given = Array.isArray(row) ? row : names.map((name) => row[name]);
    const cells = columns.map((col, i) => cell(col, given[i]));
    return transform(columns, model.inputs, cells);
  }

  /** The answers for a row, in the order of `answers`. */
  function answer(row) {
    const z = features(row);
    const found = predict(model, rule, z);
    if (rule.task === "classification") return Array.from(found.probabilities);
    const values = Array.from(found.values);
    if (!noise) return values;
    return values.concat(values.map((_, j) => deviation(rule, found.raw, noise, z, j)));
  }

  /** The most probable class of a row. */
  function label(row) {
    const p = answer(row);
    return data.labels[p.indexOf(Math.max(...p))];
  }

  return { columns: names, answers: data.answers, labels: data.labels, features, predict: answer, label };
}
