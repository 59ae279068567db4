/* The row's controls: a slider and a number for each numeric column, a list for each category, a box for mere gaps. */
import { densityBars, scale, within } from "../charts/axes.js";
import { draw, make, shape } from "../charts/elements.js";
import { hasTime, isDate, isTime, readText, write } from "../charts/written.js";
import { columns, spread } from "./content.js";
import { row, set } from "./row.js";
import { named, valueText } from "./words.js";

const controls = new Map();

/** A new control of column i. */
export function buildControl(i) {
  const build = { numeric: buildSlider, category: buildList, constant: buildGap }[columns[i].kind];
  return build(i);
}

/** A constant column that may be missing. */
function buildGap(i) {
  const onchange = () => set({ [i]: gap.checked ? Number.NaN : columns[i].start });
  const gap = make("input", { type: "checkbox", id: `control-${i}`, onchange });
  controls.set(i, { gap });
  return make("div", { class: "control" }, head(i), make("label", { class: "missing" }, gap, "missing"));
}

function head(i, ...more) {
  return make("div", { class: "control-line" }, make("label", { for: `control-${i}` }, ...named(columns[i])), ...more);
}

function buildList(i) {
  const select = make("select", { id: `control-${i}`, onchange: () => set({ [i]: Number(select.value) }) });
  select.append(...columns[i].categories.map((name, k) => make("option", { value: k }, name)));
  controls.set(i, { select });
  return make("div", { class: "control" }, head(i), select);
}

function buildSlider(i) {
  const col = columns[i];
  const slider = make("input", {
    type: "range",
    id: `control-${i}`,
    min: col.low,
    max: col.high,
    step: "any",
    oninput: () => set({ [i]: slider.valueAsNumber }),
  });
  const number = make("input", {
    type: inputType(col),
    step: "any",
    class: "exact",
    "aria-label": `${col.name}, ${isDate(col.written) ? "as a date" : "as a number"}`,
    onchange: () => {
      const value = typedValue(number, col);
      if (Number.isFinite(value)) set({ [i]: value });
      else syncControl(i);
    },
  });
  const held = make("span", { class: "held", hidden: true });
  const found = { slider, number, held, missing: null };
  const parts = [head(i, number), col.density?.edges.length ? densityStrip(col) : null, slider, held];
  if (col.flag !== null) {
    const onchange = () => set({ [i]: found.missing.checked ? Number.NaN : slider.valueAsNumber });
    found.missing = make("input", { type: "checkbox", onchange });
    parts.push(make("label", { class: "missing" }, found.missing, "missing"));
  }
  controls.set(i, found);
  return make("div", { class: "control" }, ...parts);
}

/** Dates and times have the browser's fields for them; numbers with a currency or a unit are text. */
function inputType({ written }) {
  if (isTime(written)) return "time";
  if (isDate(written)) return hasTime(written) ? "datetime-local" : "date";
  return written?.style ? "text" : "number";
}

/** What stands in the field: days since 1970 of dates, since midnight of times. */
function typedValue(field, { written }) {
  if (isDate(written)) return field.valueAsNumber / 864e5;
  return written?.style ? readText(written, field.value) : field.valueAsNumber;
}

function fieldText(value, col) {
  if (isDate(col.written)) {
    const text = new Date(Math.round(value * 864e5)).toISOString();
    return isTime(col.written) ? text.slice(11, 16) : text.slice(0, hasTime(col.written) ? 16 : 10);
  }
  return col.written?.style ? write(col.written, value, { digits: 6 }) : String(Number(value.toFixed(digitsFor(col))));
}

/** The data's density over a slider. */
function densityStrip(col) {
  // The thumb's center moves between half its width from either end, and so do the bars.
  const [inset, width, height] = [2.7, 100, 18];
  const box = { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", "aria-hidden": "true" };
  const svg = shape("svg", { class: "density", ...box });
  for (const { left, right, h } of densityBars(col.density, scale(col.low, col.high, inset, width - inset), height)) {
    draw(svg, "rect", { x: left, y: height - h, width: Math.max(0.4, right - left - 0.4), height: h });
  }
  return svg;
}

/** Bring the control of column i up to date with the row. */
export function syncControl(i) {
  const found = controls.get(i);
  if (found?.select) found.select.value = String(row.values[i]);
  else if (found?.gap) found.gap.checked = Number.isNaN(row.values[i]);
  else if (found) syncSlider(found, i, row.values[i]);
}

function syncSlider({ slider, number, held, missing }, i, value) {
  const col = columns[i];
  const gone = Number.isNaN(value);
  if (missing) missing.checked = gone;
  slider.disabled = number.disabled = gone;
  if (gone) {
    number.value = "";
    return;
  }
  if (slider.valueAsNumber !== value) slider.value = String(value);
  slider.setAttribute("aria-valuetext", `${valueText(i, value)}${col.unit ? ` ${col.unit}` : ""}`);
  number.value = fieldText(value, col);
  held.hidden = value >= col.low && value <= col.high;
  const counts = col.clip ? within(value, ...col.hold) : value;
  const counted = counts === value ? "" : `: counts as ${valueText(i, counts)}`;
  const wider = spread ? ", with wider intervals" : "";
  held.textContent = held.hidden ? "" : `Outside the training range${counted}${wider}.`;
}

/** Decimals that a thousandth of the column's range needs. */
function digitsFor(col) {
  const step = (col.high - col.low) / 1000;
  return step > 0 ? Math.max(0, Math.min(12, Math.ceil(-Math.log10(step)))) : 6;
}
