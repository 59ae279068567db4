/* One feature at a time: the curve of each column through the current row. */
import { spanOf } from "../charts/axes.js";
import { drawCategories, drawCurve } from "../charts/curve.js";
import { follow, make } from "../charts/elements.js";
import { ticksOf, write } from "../charts/written.js";
import { place, replaced, samples } from "../model/columns.js";
import { curve, extremes } from "../model/curve.js";
import { predict } from "../model/prediction.js";
import { byId, charted, columns, data, rule } from "./content.js";
import { bandOf, row, set, sharedRange, shownValue } from "./row.js";
import { saveButtons } from "./share.js";
import { named, show, shownName, slopeText, tick, valueText } from "./words.js";

/** For each column what was found last: {curve, parts, low, high}, for categories {items, low, high}. */
export const curves = new Array(columns.length).fill(null);

/** Levels of a category that are drawn at once. */
const SHOWN_LEVELS = 20;

const figures = new Map();
let sameScale = true;

/** Find the curve of column i anew. */
export function updateCurve(i) {
  curves[i] = columns[i].kind === "category" ? categoryCurve(i) : numericCurve(i);
}

/** The ends of a band, by name. */
const ends = (band) => (band ? { low: band[0], high: band[1], innerLow: band[2], innerHigh: band[3] } : {});

function categoryCurve(i) {
  const col = columns[i];
  const values = [...row.values];
  const counts = col.density?.counts ?? [];
  const total = counts.reduce((a, b) => a + b, 0);
  const items = col.categories.map((name, k) => {
    const z = replaced(col, row.z, k);
    const answer = predict(charted, rule, z, false);
    const y = shownValue(answer);
    values[i] = k;
    const band = bandOf(y, values, z, () => answer.raw);
    return { name, y, ...ends(band), share: total ? counts[k] / total : 0 };
  });
  const ys = items.map((item) => item.y);
  const [low, high] = [Math.min(...ys), Math.max(...ys)];
  return { items, low: { x: ys.indexOf(low), y: low }, high: { x: ys.indexOf(high), y: high } };
}

function numericCurve(i) {
  const col = columns[i];
  const values = [...row.values];
  const z = Float64Array.from(row.z);
  if (col.flag !== null) z[col.flag] = 0;
  const along = curve(charted, rule, z, col, row.output);
  let near = null;
  const parts = samples(col, data.posterior ? 64 : 120).map((part) =>
    part.map(({ x, t }) => {
      const y = along.value(t);
      place(col, z, t);
      values[i] = x;
      near = bandOf(y, values, z, () => along.at(t), { near });
      return { x, t, y, ...ends(near) };
    }),
  );
  return { curve: along, parts, ...extremes(along, col, parts) };
}

/** A new figure for column i. */
export function buildFigure(i) {
  const category = columns[i].kind === "category";
  const slope = make("span", { class: "slope" });
  const host = make("div", { class: category ? "tall" : null });
  const range = make("p", { class: "range" });
  const saves = saveButtons(columns[i].name, host, () => curveLines(i));
  const caption = make("figcaption", {}, make("span", { class: "name" }, ...named(columns[i])), slope);
  const search = category && columns[i].categories.length > SHOWN_LEVELS ? searchField(i) : null;
  figures.set(i, { slope, host, range, search });
  const last = make("div", { class: "below" }, range, saves);
  return make("figure", { class: category ? "curve short" : "curve", "data-column": i }, caption, search, host, last);
}

/** Draw column i, if it has a figure and its curve is known. */
export function renderCurve(i) {
  const spot = figures.get(i);
  const found = curves[i];
  if (!spot || !found) return;
  const points = found.items ?? found.parts.flat();
  const range = sameScale
    ? sharedRange()
    : spanOf(
        points.flatMap((p) => [p.y, p.low ?? p.y, p.high ?? p.y]),
        0.06,
      );
  if (found.items) renderCategories(i, spot, found, range);
  else renderNumeric(i, spot, found, range);
}

function renderCategories(i, spot, { items }, range) {
  const label = `${shownName()} by ${columns[i].name}`;
  const onPick = (k) => set({ [i]: k });
  const shown = shownLevels(items, row.values[i], spot.search?.value ?? "");
  drawCategories(spot.host, { items: shown, current: row.values[i], range, text: tick, label, onPick });
  const left = items.length - shown.length;
  spot.range.textContent = left ? `The ${shown.length} strongest of ${items.length}, those that search finds.` : "";
  if (left && !spot.search.value) spot.range.textContent = `The ${shown.length} strongest of ${items.length}.`;
}

/** The levels to draw, in their order: those whose names hold the search, the farthest from the present value first. */
function shownLevels(items, current, search) {
  const all = items.map((item, k) => ({ ...item, k }));
  if (items.length <= SHOWN_LEVELS) return all;
  const wanted = search.trim().toLowerCase();
  const matching = all.filter(({ name }) => name.toLowerCase().includes(wanted));
  const middle = items.reduce((sum, { y, share }) => sum + y * (share || 1 / items.length), 0);
  const strength = ({ y, k }) => (k === current ? Number.POSITIVE_INFINITY : Math.abs(y - middle));
  const kept = matching.sort((a, b) => strength(b) - strength(a)).slice(0, SHOWN_LEVELS);
  return kept.sort((a, b) => b.y - a.y);
}

function searchField(i) {
  const label = `Search the ${columns[i].categories.length} levels of ${columns[i].name}`;
  return make("input", {
    type: "search",
    class: "search",
    placeholder: `Search ${columns[i].categories.length} levels`,
    "aria-label": label,
    oninput: () => renderCurve(i),
  });
}

/** The numbers of a curve, with a header. */
function curveLines(i) {
  const found = curves[i];
  const head = [columns[i].name, shownName(), "lower", "upper"];
  const points = found.items
    ? found.items.map((p) => [p.name, p.y, p.low, p.high])
    : found.parts.flat().map((p) => [p.x, p.y, p.low, p.high]);
  const banded = points[0][2] !== undefined;
  return [head, ...points].map((cells) => (banded ? cells : cells.slice(0, 2)));
}

function renderNumeric(i, spot, { parts, low, high }, range) {
  const col = columns[i];
  const value = row.values[i];
  const x = Math.min(Math.max(value, col.low), col.high);
  const drawn = drawCurve(spot.host, {
    parts: joined(parts, 0.03 * (range[1] - range[0])),
    domain: [col.low, col.high],
    range,
    low,
    high,
    text: tick,
    xText: (v) => write(col.written, v, { brief: true }),
    xTicks: ticksOf(col.written),
    counts: col.density?.edges.length ? col.density : null,
    point: Number.isNaN(value) ? null : { x, y: shownValue(row.answer) },
    label:
      `${shownName()} along ${col.name}: lowest ${show(low.y)} at ${valueText(i, low.x)}, ` +
      `highest ${show(high.y)} at ${valueText(i, high.x)}`,
  });
  follow(drawn.svg, (pixel) => set({ [i]: drawn.toValue(pixel) }));
  const [min, max] = [make("b", {}, show(low.y)), make("b", {}, show(high.y))];
  spot.range.replaceChildren("min ", min, ` at ${valueText(i, low.x)} · max `, max, ` at ${valueText(i, high.x)}`);
}

/** Parts of a curve without the jumps that are too small to see. */
function joined(parts, visible) {
  const found = [];
  for (const part of parts) {
    const last = found[found.length - 1];
    if (last && Math.abs(part[0].y - last[last.length - 1].y) < visible) last.push(...part);
    else found.push([...part]);
  }
  return found;
}

export function renderCurves() {
  for (const i of figures.keys()) renderCurve(i);
}

/** The slope beside each figure's name; `all` holds those of all columns. */
export function renderSlopes(all) {
  for (const [i, { slope }] of figures) {
    const text = slopeText(i, all[i]);
    slope.textContent = text.includes(" per ") ? `slope ${text.split(" per ")[0]}` : text;
    slope.title = text;
  }
}

/** The two buttons that choose the vertical scale. */
export function startScale() {
  const buttons = { true: byId("same-scale"), false: byId("own-scale") };
  for (const same of [true, false]) {
    buttons[same].addEventListener("click", () => {
      sameScale = same;
      buttons[same].setAttribute("aria-pressed", "true");
      buttons[!same].setAttribute("aria-pressed", "false");
      renderCurves();
    });
  }
}
