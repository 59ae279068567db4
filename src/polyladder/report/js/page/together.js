/* What it would take with several features together: a search in the page, and a proof of what is not enough. */
import { make, table } from "../charts/elements.js";
import { format } from "../charts/numbers.js";
import { provenShare, question, smallestChange } from "../model/together.js";
import { byId, charted, columns, ranked, rule } from "./content.js";
import { row, set } from "./row.js";
import { named, plainName, show, valueText } from "./words.js";

/** Features that can be ticked, the strongest. */
const TICKS = 12;

/** Milliseconds of searching between two breaths of the page. */
const SLICE = 20;

const ticks = new Map();
let runs = 0;

/** Boxes for the features that may move, all ticked. */
export function startTogether(wish) {
  const numbers = ranked.filter((i) => columns[i].kind === "numeric").slice(0, TICKS);
  byId("together").hidden = numbers.length < 2;
  const boxes = numbers.map((i) => {
    const box = make("input", { type: "checkbox", checked: true, onchange: clearTogether });
    ticks.set(i, box);
    return make("label", { class: "tick" }, box, plainName(columns[i]));
  });
  byId("together-ticks").append(...boxes);
  byId("together-find").addEventListener("click", () => find(wish()));
}

/** Whatever was found belongs to another row or another wish. */
export function clearTogether() {
  runs++;
  byId("together-list").replaceChildren();
}

/** Ticked columns that have a value within their range. */
function movable() {
  return [...ticks.keys()].filter((i) => {
    return ticks.get(i).checked && row.values[i] >= columns[i].low && row.values[i] <= columns[i].high;
  });
}

/** A pause that lets the page breathe now and then, and ends the search once its run is over. */
function breaths(run) {
  let until = performance.now() + SLICE;
  return async () => {
    if (performance.now() < until) return;
    await new Promise((resolve) => {
      setTimeout(resolve);
    });
    if (run !== runs) throw new Stopped();
    until = performance.now() + SLICE;
  };
}

class Stopped extends Error {}

async function find(wanted) {
  const run = ++runs;
  const chosen = movable();
  if (!Number.isFinite(wanted) || !chosen.length) {
    say(make("p", { class: "empty" }, "Enter a value and tick a feature."));
    return;
  }
  say(make("p", { class: "empty" }, "Searching ..."));
  const asked = question(charted, rule, columns, [...row.values], row.output, wanted, chosen);
  try {
    const found = await smallestChange(asked, breaths(run));
    const proven = provenShare(asked, found.share ?? 1);
    if (run === runs) say(...(found.share === undefined ? failure(found, proven) : success(asked, found, proven)));
  } catch (error) {
    if (!(error instanceof Stopped)) throw error;
  }
}

const say = (...parts) => byId("together-list").replaceChildren(...parts);

function failure({ closest }, proven) {
  const words = proven === 1 ? "It cannot be reached: that is proven." : "That is a search, not a proof.";
  return [
    make("p", { class: "empty" }, `No change of these features was found that does it: ${show(closest)} at best.`),
    make("p", { class: "faint" }, words),
  ];
}

function success({ values, movable: chosen }, found, proven) {
  const moved = chosen.filter((i) => found.values[i] !== values[i]);
  const changes = Object.fromEntries(moved.map((i) => [i, found.values[i]]));
  const head = [make("th", {}, "Change together"), ...["from", "to"].map((t) => make("th", { class: "n" }, t))];
  const rows = moved.map((i) => {
    const cells = [valueText(i, values[i]), make("b", {}, valueText(i, found.values[i]))];
    const attributes = { "data-column": i, "data-x": String(found.values[i]) };
    const numbers = cells.map((content) => make("td", { class: "n" }, content));
    return make("tr", attributes, make("td", { class: "name" }, ...named(columns[i])), ...numbers);
  });
  const lead = `It is enough to change each by at most ${share(found.share, Math.ceil)} of its range.`;
  const list = make("div", { class: "scroll" }, table(head, rows));
  const button = make("button", { type: "button", id: "together-set", onclick: () => set(changes) }, "Set all");
  const attributes = { class: "faint", "data-share": String(found.share), "data-proven": String(proven) };
  return [make("p", { class: "lead" }, lead), list, button, make("p", attributes, proof(proven))];
}

function proof(proven) {
  if (proven === null) return "The smallest change that a search found; a smaller one may exist.";
  const bound = share(proven, Math.floor);
  return `Found by exact steps along one feature after another. Changes of up to ${bound} of every range are not enough: that is proven.`;
}

/** A share in percent with two digits behind the point at most, rounded to the safe side. */
const share = (v, round) => `${format(round(1e4 * v) / 100)} %`;
