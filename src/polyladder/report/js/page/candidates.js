/* What a selection tried: the error of each kind of candidate on rows left out, and what it counts in the sum. */
import { make, meter, scrolling, table } from "../charts/elements.js";
import { format } from "../charts/numbers.js";
import { byId, data } from "./content.js";

/** Kinds that count for nothing and are shown all the same, the best ones. */
const OTHERS = 6;

function candidateRow(each, measure) {
  const constant = each.model === "constant";
  return make(
    "tr",
    {},
    make("td", { class: "name" }, each.model),
    make("td", { class: "n" }, constant ? "" : String(each.order)),
    make("td", {}, constant ? "" : each.features),
    make(
      "td",
      { class: "n" },
      measure !== "share of variance" ? format(each.error, 3) : `${format(100 * each.error, 3)} %`,
    ),
    make("td", { class: "n" }, each.weight > 0 ? format(each.weight, 2) : "–"),
    make("td", { class: "weight" }, meter(Math.min(each.weight, 1))),
  );
}

export function renderCandidates() {
  byId("chosen").hidden = !data.candidates;
  if (!data.candidates) return;
  const { measure, tried, kinds } = data.candidates;
  const counted = kinds.filter((c) => c.weight > 0).sort((a, b) => b.weight - a.weight);
  const others = kinds.filter((c) => !(c.weight > 0)).sort((a, b) => a.error - b.error);
  const alike =
    tried > kinds.length ? " Candidates of one kind share a line: the least error, the sum of the weights." : "";
  const error = measure === "share of variance" ? "error, share of variance" : measure;
  byId("chosen-lead").textContent =
    `${tried} candidates were compared by their predictions of rows left out of their fits. ` +
    `Their sum with these weights was chosen.${alike} ${data.card.compact ?? ""}`;
  const heads = [["Candidate"], ["order", "n"], ["features"], [error, "n"], ["weight", "n"]];
  const head = heads.map(([text, kind]) => make("th", { class: kind ?? null }, text));
  const rows = [...counted, ...others.slice(0, OTHERS)].map((each) => candidateRow(each, measure));
  const left = others.length - OTHERS;
  const note = left > 0 ? `${left} more, with larger errors, do not count either.` : "";
  byId("chosen-list").replaceChildren(
    scrolling("Candidates", table([...head, make("td")], rows)),
    make("p", { class: "chart-note" }, note),
  );
}
