/* The answer: the prediction in large type, its band, and where it lies. */
import { make, meter } from "../charts/elements.js";
import { percent } from "../charts/numbers.js";
import { binned } from "../charts/scatter.js";
import { drawStrip } from "../charts/strips.js";
import { byId, classes, data } from "./content.js";
import { bandOf, row, shownValue } from "./row.js";
import { show, shownName } from "./words.js";

export function renderAnswer() {
  const value = shownValue(row.answer);
  const band = bandOf(value, row.values, row.z, () => row.answer.raw, { fine: true });
  const box = byId("answer-value");
  byId("answer-name").textContent = shownName();
  box.replaceChildren(show(value), data.unit && !classes ? make("small", {}, ` ${data.unit}`) : "");
  box.classList.toggle("long", show(value).length > 8);
  box.dataset.value = String(value);
  if (band) renderBand(box, band);
  if (classes) renderClasses(box);
  else renderPlace(value, band);
}

function renderBand(box, [low, high, innerLow, innerHigh]) {
  const { kind, level, source } = data.band;
  if (kind === "spread") {
    const outer = make("b", {}, `${show(low)} and ${show(high)}`);
    const inner = `${data.spread.percents[0]} % between ${show(innerLow)} and ${show(innerHigh)}`;
    const parts = [make("span", {}, `${level} % between `, outer, ","), " ", make("span", {}, inner)];
    byId("answer-band").replaceChildren(...parts);
  } else {
    const from = kind === "draws" ? `${level} % interval of the posterior` : `${level} % of ${source} are this close`;
    byId("answer-band").replaceChildren(make("b", {}, `${show(low)} to ${show(high)}`), `: ${from}`);
  }
  box.dataset.low = String(low);
  box.dataset.high = String(high);
}

/** The likeliest classes. */
function renderClasses(box) {
  box.dataset.probabilities = JSON.stringify(row.answer.probabilities);
  const order = row.answer.probabilities.map((p, i) => [p, i]).sort((a, b) => b[0] - a[0]);
  const lines = order.slice(0, 6).map(([p, i]) => {
    const name = make("span", { class: "name" }, data.outputs[i]);
    return make("div", { class: "class-line" }, name, meter(p), make("span", { class: "number" }, percent(p)));
  });
  byId("answer-chart").replaceChildren(...lines);
}

/** The value among the targets that were observed, if any are known. */
function renderPlace(value, band) {
  const domain = data.range[row.output];
  const observed = data.quality[0]?.observed[row.output];
  const counts = observed ? binned(observed, domain[0], domain[1], 36) : null;
  const label = `${shownName()}: ${show(value)} within ${show(domain[0])} to ${show(domain[1])}`;
  drawStrip(byId("answer-chart"), { domain, counts, value, band, label, text: show });
}
