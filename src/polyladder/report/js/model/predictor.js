/* From a row of a table, as it is written, to answers: what an exported script offers. */
import { banded } from "./banded.js";
import { cellReader } from "./cells.js";
import { transform } from "./columns.js";
import { deviation } from "./interval.js";
import { predict } from "./prediction.js";
import { unpacked } from "./unpack.js";

/** The cells of a row: an object by column names, all of them, or an array in the order of the columns. */
function cellsOf(row, names) {
  if (Array.isArray(row) || ArrayBuffer.isView(row)) {
    if (row.length !== names.length) throw new TypeError(`A row must have ${names.length} cells; got ${row.length}.`);
    return row;
  }
  const lacking = names.find((name) => !Object.hasOwn(row, name));
  if (lacking !== undefined) {
    const found = Object.keys(row).map((name) => JSON.stringify(name));
    throw new TypeError(`A row must have the column ${JSON.stringify(lacking)}; got ${found.join(", ") || "none"}.`);
  }
  return names.map((name) => row[name]);
}

/** A model from what an export carries: {columns, answers, labels, features, predict, label}. */
export function predictor(data) {
  const { model, rule, columns, noise } = unpacked(data);
  const names = columns.map((c) => c.name);
  const readers = columns.map((col) => cellReader(col, data.reading));

  /** The inputs of the ladders for a row. */
  function features(row) {
    const given = cellsOf(row, names);
    return transform(
      columns,
      model.inputs,
      readers.map((read, i) => read(given[i])),
    );
  }

  /** The answers for a row, in the order of `answers`. */
  function answer(row) {
    const z = features(row);
    const found = predict(model, rule, z);
    if (rule.task === "classification") return Array.from(found.probabilities);
    if (rule.band) return banded(rule.band, found.values);
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
