/* Why this prediction: what each column of the row added to it, as a waterfall. */
import { scale } from "../charts/axes.js";
import { make } from "../charts/elements.js";
import { format, signed } from "../charts/numbers.js";
import { write } from "../charts/written.js";
import { contributions } from "../model/contributions.js";
import { byId, classes, columns, data, model, way } from "./content.js";
import { row, shownValue } from "./row.js";
import { plainName, show, targetName, valueText } from "./words.js";

/** Columns that have a line of their own. */
const SHOWN = 12;

let found = null;

/** The contributions that are shown: {start, end, parts}. */
export const shownContributions = () => found;

/** Of two classes there is one output; of several the shown class's. */
const outputIndex = () => (model.outputs === 1 ? 0 : row.output);

function outputName() {
  if (!classes) return targetName;
  return model.outputs === 1 ? `Log-odds of ${data.outputs[1]}` : `Score of ${data.outputs[row.output]}`;
}

const text = (v) => (classes ? format(v, 3) : write(data.written, v));

export function renderContributions() {
  found = contributions(model, columns, way, row.z, outputIndex());
  found.parts.sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
  const shown = found.parts.slice(0, SHOWN);
  const others = found.parts.slice(SHOWN);
  const rest = others.reduce((sum, part) => sum + part.value, 0);
  byId("why-lead").textContent =
    `${outputName()} is ${text(found.start)} at ${way.words} and ${text(found.end)} in your row. ` +
    `Each feature's share of the difference is exact${data.posterior ? ", with the range of 90 % of the draws" : ""}.`;
  const ends = [found.start];
  for (const { value } of [...shown, { value: rest }]) ends.push(ends[ends.length - 1] + value);
  const x = scale(Math.min(...ends), Math.max(...ends), 0, 100);
  const lines = shown.map((part, k) => line(partName(part.i), part, ends[k], ends[k + 1], x));
  if (others.length) {
    const from = ends[shown.length];
    lines.push(line(`${others.length} other features`, { value: rest }, from, from + rest, x));
  }
  const value = shownValue(row.answer);
  if (!classes && Math.abs(value - found.end) > 1e-9 * (1 + Math.abs(value))) {
    lines.push(make("p", { class: "faint" }, `The prediction shown is ${show(value)}: ${holdWords()}.`));
  }
  byId("why-list").replaceChildren(...lines);
}

const holdWords = () => (data.posterior ? "the median of the draws" : "held to the range of the training targets");

const partName = (i) => `${plainName(columns[i])} = ${valueText(i, row.values[i])}`;

/** One step of the waterfall. */
function line(name, { value, low, high }, from, to, x) {
  const bar = make("span", { class: value < 0 ? "fall" : "rise" });
  const left = Math.min(x(from), x(to));
  Object.assign(bar.style, { left: `${left}%`, width: `${Math.max(0.6, Math.abs(x(to) - x(from)))}%` });
  const range = data.posterior && low !== undefined ? make("small", {}, ` ${signed(low)} to ${signed(high)}`) : null;
  return make(
    "div",
    { class: data.posterior ? "step ranged" : "step" },
    make("span", { class: "name" }, name),
    make("div", { class: "track", "aria-hidden": "true" }, bar),
    make("span", { class: "number" }, signed(value), range),
  );
}
