/* The model card, and the page's head. */
import { make, table } from "../charts/elements.js";
import { count, format, percent } from "../charts/numbers.js";
import { byId, classes, columns, data, model, used } from "./content.js";
import { named, targetName, valueText } from "./words.js";

function renderFacts(host, list) {
  const known = list.filter(([, v]) => v !== null && v !== undefined && v !== "");
  host.replaceChildren(...known.flatMap(([k, v]) => [make("dt", {}, k), make("dd", {}, String(v))]));
}

export function renderCard() {
  const { card } = data;
  const ladders = card.ladders > 1 ? `${count(card.ladders)} ladders of ` : "";
  // A selection sums ladders of all sizes.
  const widths = data.candidates ? "" : `, widths ${card.widths.join(", ") || "none"}`;
  const versions = Object.entries(card.versions).map(([k, v]) => `${k} ${v}`);
  renderFacts(byId("card-facts"), [
    ["Model", `${data.estimator}, order ${card.order}`],
    ["Weights", `${ladders}${count(card.weights)} weights${data.candidates ? " in all" : ""}${widths}`],
    ["Solver", card.solver],
    ["Predicts", data.target + (classes ? `: ${data.outputs.length} classes` : "")],
    ["Rows", card.rows === null ? null : count(card.rows)],
    ["Data", card.source],
    ["Seed", card.seed],
    ["Made", card.created],
    ["Versions", versions.join(", ")],
  ]);
  const settings = Object.entries(card.settings).map(([k, v]) => [k, v === null ? "None" : String(v)]);
  renderFacts(byId("card-settings"), settings);
  const head = [make("th", {}, "Column"), make("th", {}, "Kind")];
  head.push(...["Training range", "Typical"].map((text) => make("th", { class: "n" }, text)));
  byId("card-columns").replaceChildren(table(head, columns.map(columnRow)));
}

function columnRow(col, i) {
  const numeric = col.kind === "numeric";
  const constant = col.flag === undefined ? "constant, not used" : "constant or missing";
  const kinds = { numeric: "number", category: `${col.categories?.length} categories`, constant };
  return make(
    "tr",
    {},
    make("td", { class: "name" }, ...named(col)),
    make("td", {}, kinds[col.kind]),
    make("td", { class: "n" }, numeric ? `${valueText(i, col.low)} to ${valueText(i, col.high)}` : ""),
    make("td", { class: "n" }, col.kind === "constant" ? "" : valueText(i, col.start)),
  );
}

/** Title, one sentence on the model, and links to the sections that are there. */
export function renderHead() {
  byId("title").textContent = targetName;
  const many = data.posterior ? `${count(model.draws)} posterior draws of a` : "A";
  const rows = data.card.rows ? `, fitted to ${count(data.card.rows)} rows` : "";
  const features = `${used.length} feature${used.length > 1 ? "s" : ""}`;
  byId("summary").textContent =
    `${many} polynomial of order ${data.card.order} in ${features}${rows}.${scoreSentence()}`;
  for (const section of document.querySelectorAll("main section[data-title]")) {
    if (!section.hidden) byId("sections").append(make("a", { href: `#${section.id}` }, section.dataset.title));
  }
}

function scoreSentence() {
  const quality = data.quality[0];
  if (!quality) return "";
  if (classes) return ` ${percent(1 - quality.error)} right on ${quality.label}.`;
  const share = data.card.scores[0]?.coverage?.[data.band.level];
  const held = share === undefined ? "" : `; ${data.band.level}\u00a0% intervals hold ${percent(share)} of them`;
  return ` RMSE ${quality.rmse.map((v) => format(v, 3)).join(", ")} on ${quality.label}${held}.`;
}
