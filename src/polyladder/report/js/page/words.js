/* Names, units and values as the page words them. */
import { make } from "../charts/elements.js";
import { percent, signed } from "../charts/numbers.js";
import { isDate, write } from "../charts/written.js";
import { classes, columns, data } from "./content.js";
import { row } from "./row.js";

// A unit in brackets at the end of a name is shown apart from it.
export const plainName = ({ name, unit }) => (unit && name.replace(/\s*[([][^()[\]]*[)\]]\s*$/, "")) || name;

/** A column's name with its unit, as parts of an element. */
export const named = (col) => [plainName(col), col.unit ? make("small", {}, ` ${col.unit}`) : null];

export const targetName = plainName({ name: data.target, unit: data.unit });

/** The name of the quantity that is shown. */
export function shownName() {
  if (classes) return `P(${targetName} = ${data.outputs[row.output]})`;
  return data.outputs.length > 1 ? `${targetName}, ${data.outputs[row.output]}` : targetName;
}

/** A value of the shown quantity, in a sentence and beside an axis. */
export const show = (v) => (classes ? percent(v) : write(data.written, v));
export const tick = (v) => (classes ? percent(v) : write(data.written, v, { brief: true }));

/** A value of column i. */
export function valueText(i, x) {
  const col = columns[i];
  if (col.kind === "category") return x < 0 ? "none of them" : col.categories[x];
  return write(col.written, x);
}

/** The slope along column i. */
export function slopeText(i, slope) {
  const col = columns[i];
  if (col.kind !== "numeric" || Number.isNaN(row.values[i])) return "";
  if (Number.isNaN(slope)) return "jumps here";
  const text = classes ? `${signed(100 * slope)} %-points` : signed(slope);
  return `${text} per ${unitWord(col)}`;
}

function unitWord({ unit, written }) {
  if (isDate(written)) return "day";
  return unit || (written?.style?.prefix ?? written?.style?.suffix ?? "").trim() || "unit";
}
