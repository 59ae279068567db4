/* Two features at a time: a map with contour lines. */
import { ticks, within } from "../charts/axes.js";
import { follow, make } from "../charts/elements.js";
import { drawHeat } from "../charts/heat.js";
import { ticksOf, write } from "../charts/written.js";
import { forward, replaced } from "../model/columns.js";
import { contours } from "../model/contours.js";
import { curve } from "../model/curve.js";
import { predict } from "../model/prediction.js";
import { byId, charted, classes, columns, data, ranked, rule, used } from "./content.js";
import { presentValue, row, set, shownValue } from "./row.js";
import { plainName, show, shownName, tick } from "./words.js";

const NODES = { draws: 25, median: 33, mean: 49 }[rule.combine];

// Of the side of a cell; a mean of probabilities is expensive, and this is still far below a pixel.
const TOLERANCE = rule.combine === "draws" ? 1e-3 : 1e-6;

function axisOf(i) {
  const col = columns[i];
  const title = plainName(col) + (col.unit ? ` (${col.unit})` : "");
  if (col.kind === "category") {
    const nodes = col.categories.map((_, k) => k);
    return { title, names: col.categories, nodes, lo: -0.5, hi: nodes.length - 0.5 };
  }
  const nodes = Array.from({ length: NODES }, (_, k) => col.low + ((col.high - col.low) * k) / (NODES - 1));
  const text = (v) => write(col.written, v, { brief: true });
  return { title, nodes, lo: col.low, hi: col.high, text, find: ticksOf(col.written) };
}

/** The shown quantity as a function of column i's value, all else as in z. */
function along(z, i) {
  const col = columns[i];
  if (col.kind === "category") return (k) => shownValue(predict(charted, rule, replaced(col, z, k), false));
  const found = curve(charted, rule, replaced(col, z, col.low), col, row.output);
  return (x) => found.value(forward(col, x));
}

let current = null;
let redraw = null;

/** What the map shows now: {i, j, xAxis, yAxis, values, range, levels, lines}. */
export const shownMap = () => current;

/** The steps of drawing the map: a row of it each, and then the map. */
export function* mapSteps() {
  if (used.length < 2) return;
  const [i, j] = [Number(byId("pair-x").value), Number(byId("pair-y").value)];
  const [xAxis, yAxis] = [axisOf(i), axisOf(j)];
  const rows = [];
  for (const node of yAxis.nodes) {
    const f = along(replaced(columns[j], row.z, node), i);
    rows.push({ f, values: xAxis.nodes.map(f) });
    yield;
  }
  const values = rows.map((made) => made.values);
  const flat = values.flat();
  const [low, high] = [Math.min(...flat), Math.max(...flat)];
  const range = high - low > 1e-12 ? [low, high] : [low - 0.5, low + 0.5];
  const levels = ticks(range[0], range[1], 8);
  const lines = xAxis.names || yAxis.names ? [] : linesOf(i, j, xAxis.nodes, yAxis.nodes, rows, levels);
  current = { i, j, xAxis, yAxis, values, range, levels, lines };
  renderMap();
}

/** Draw the map that was found last, as wide as its place is now. */
export function renderMap() {
  if (!current) return;
  const { i, j, xAxis, yAxis, values, range, levels, lines } = current;
  const place = (axis, v) => (axis.names ? v : within(v, axis.lo, axis.hi));
  const at = (x, y) => [place(xAxis, x), place(yAxis, y)];
  const numeric = !xAxis.names && !yAxis.names;
  const known = numeric ? data.rows.filter((r) => r[i] !== null && r[j] !== null) : [];
  const drawn = drawHeat(byId("pair-map"), {
    values,
    xAxis,
    yAxis,
    range,
    levels,
    contours: lines,
    text: tick,
    points: known.map((r) => at(r[i], r[j])),
    current: at(presentValue(i), presentValue(j)),
    label: `${shownName()} over ${columns[i].name} and ${columns[j].name}, from ${show(range[0])} to ${show(range[1])}`,
  });
  const snap = (axis, v) => (axis.names ? within(Math.round(v), 0, axis.names.length - 1) : v);
  follow(drawn.svg, (px, py) => {
    const [x, y] = drawn.toValues(px, py);
    set({ [i]: snap(xAxis, x), [j]: snap(yAxis, y) });
  });
}

function linesOf(i, j, xs, ys, rows, levels) {
  const columnwise = xs.map(() => null);
  const upward = (c) => {
    columnwise[c] ??= along(replaced(columns[i], row.z, xs[c]), j);
    return columnwise[c];
  };
  const grid = { xs, ys, values: rows.map((made) => made.values), along: rows.map((made) => made.f), upward };
  return contours(grid, levels, TOLERANCE);
}

/** Show the map of columns i and j. */
export function showPair(i, j) {
  byId("pair-x").value = String(i);
  byId("pair-y").value = String(j);
  redraw();
  byId("pair").scrollIntoView();
}

/** Offer all columns on both axes; the strongest pair of numbers comes first. `draw` is called for another map. */
export function startMap(draw) {
  redraw = draw;
  byId("pair").hidden = used.length < 2;
  if (used.length < 2) return;
  const first = firstPair();
  ["pair-x", "pair-y"].forEach((id, k) => {
    byId(id).append(...used.map((i) => make("option", { value: i }, plainName(columns[i]))));
    byId(id).value = String(first[k]);
    byId(id).addEventListener("change", draw);
  });
  if (!data.strengths.pairs.length) {
    const moved = classes ? "score" : "prediction";
    byId("pair-lead").prepend(`No two features act together: each moves the ${moved} alike wherever the other is. `);
  }
}

/** The strongest pair of numbers, or the strongest of all; where no two act together, the two strongest features. */
function firstPair() {
  const numeric = (i) => columns[i].kind === "numeric";
  const { pairs } = data.strengths;
  if (pairs.length) return pairs.find(([i, j]) => numeric(i) && numeric(j)) ?? pairs[0];
  const numbers = ranked.filter(numeric);
  return numbers.length > 1 ? numbers : ranked;
}
