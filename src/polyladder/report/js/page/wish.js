/* What would it take: for every feature alone, the value that gives a wanted prediction. */
import { make, table } from "../charts/elements.js";
import { solve } from "../model/curve.js";
import { byId, classes, columns, data, rule, used } from "./content.js";
import { curves } from "./curves.js";
import { presentValue, row, set, shownValue } from "./row.js";
import { named, plainName, show, shownName, valueText } from "./words.js";

/**
 * For every column the value nearest to the present one that gives the wanted prediction, all else as it is (`found`,
 * smallest change first); for those that cannot, and for categories, the closest they come (`closest`, nearest first).
 */
export function ways(wanted) {
  const found = [];
  const closest = [];
  for (const i of used.filter((k) => curves[k])) {
    const x = curves[i].items ? null : nearest(i, wanted);
    if (x === null) closest.push({ i, ...closestPoint(curves[i], wanted) });
    else found.push({ i, x, size: Math.abs(x - presentValue(i)) / (columns[i].high - columns[i].low) });
  }
  return { found: found.sort((a, b) => a.size - b.size), closest: closest.sort((a, b) => a.gap - b.gap) };
}

function nearest(i, wanted) {
  const from = presentValue(i);
  const xs = solve(curves[i].curve, columns[i], wanted, rule, row.output, curves[i].parts);
  return xs.reduce((a, b) => (a !== null && Math.abs(a - from) <= Math.abs(b - from) ? a : b), null);
}

function closestPoint({ items, low, high }, wanted) {
  const points = items ? items.map(({ y }, x) => ({ x, y })) : [high, low];
  const gaps = points.map(({ x, y }) => ({ x, y, gap: Math.abs(y - wanted) }));
  return gaps.reduce((a, b) => (b.gap < a.gap ? b : a));
}

/** Ask for something that is neither here nor out of reach. */
export function startWish() {
  byId("wish-label").textContent = classes ? `To make ${shownName()} (in %)` : `To reach ${shownName()} of`;
  byId("wish-value").value = String(firstWish(shownValue(row.answer)));
}

function firstWish(value) {
  if (classes) return value < 0.5 ? 75 : 25;
  const [low, high] = data.range[row.output];
  const step = 0.2 * (high - low);
  return Number((value < (low + high) / 2 ? value + step : value - step).toPrecision(2));
}

/** The wanted value; NaN where there is none. */
export function wish() {
  const asked = byId("wish-value").valueAsNumber;
  return classes ? asked / 100 : asked;
}

export function renderWish() {
  const wanted = wish();
  if (!Number.isFinite(wanted)) {
    byId("wish-list").replaceChildren(make("p", { class: "empty" }, "Enter a value."));
    return;
  }
  const { found, closest } = ways(wanted);
  const parts = found.length
    ? [make("div", { class: "scroll" }, table(head(), found.slice(0, 12).map(wayRow)))]
    : [make("p", { class: "empty" }, `No feature alone reaches ${show(wanted)} from here.`)];
  if (closest.length) parts.push(closestLine(closest, found.length ? "Not enough alone" : "Closest"));
  byId("wish-list").replaceChildren(...parts);
}

const head = () => [make("th", {}, "Change only"), ...["from", "to", ""].map((t) => make("th", { class: "n" }, t))];

function wayRow({ i, x }) {
  const onclick = () => set({ [i]: x });
  const label = `Set ${columns[i].name} to ${valueText(i, x)}`;
  const cells = [valueText(i, row.values[i]), make("b", {}, valueText(i, x))];
  const button = make("button", { type: "button", "aria-label": label, onclick }, "Set");
  return make(
    "tr",
    { "data-column": i, "data-x": String(x) },
    make("td", { class: "name" }, ...named(columns[i])),
    ...[...cells, button].map((content) => make("td", { class: "n" }, content)),
  );
}

function closestLine(closest, lead) {
  const best = closest.slice(0, 3).map(({ i, x, y }) => `${plainName(columns[i])} (${show(y)} at ${valueText(i, x)})`);
  const more = closest.length > 3 ? ` and ${closest.length - 3} more` : "";
  return make("p", { class: "faint" }, `${lead}: ${best.join(", ")}${more}.`);
}
