/* The table of held-out scores: the ladder, which comes first, and what else was tried. */
import { make, scrolling, table } from "../charts/elements.js";
import { count, format } from "../charts/numbers.js";
import { byId, data } from "./content.js";

const NAMES = {
  rmse: "RMSE",
  r2: "R²",
  crps: "CRPS",
  log_likelihood: "log likelihood",
  error: "error",
  log_loss: "log loss",
  auc: "AUC",
  average_precision: "av. precision",
  f1: "F1",
  calibration_error: "calibration error",
  seconds: "seconds",
  rows: "fitted rows",
};

const LAST = ["seconds", "rows"];

/** Said elsewhere: how many rows the distributions were scored at, and how wide intervals are. */
const ELSEWHERE = ["scored", "half_width"];

export function renderScores() {
  const { scores } = data.card;
  if (!scores.length) return;
  const found = [...new Set(scores.flatMap(Object.keys))].filter((k) => !ELSEWHERE.includes(k));
  const measures = found.filter((k) => scores.some((s) => isNumber(s[k])));
  // Seconds and rows come after what they led to.
  measures.sort((a, b) => LAST.indexOf(a) - LAST.indexOf(b));
  const title = make("th", {}, "Model, on held-out rows");
  const head = [title, ...measures.map((k) => make("th", { class: "n" }, NAMES[k] ?? k))];
  const { best, better } = judged(scores);
  const rows = scores.map((s) => {
    const cells = measures.map((k) => make("td", { class: "n" }, isNumber(s[k]) ? scoreText(k, s[k]) : "–"));
    return make("tr", { class: best.includes(s) ? "best" : null }, make("td", { class: "name" }, s.model), ...cells);
  });
  const parts = [scrolling("Scores on held-out rows", table(head, rows))];
  if (better.length) {
    const names = better.map((s) => s.model).join(", ");
    parts.push(make("p", { class: "chart-note" }, `Better than the ladder on these rows: ${names}.`));
  }
  byId("scores").replaceChildren(...parts);
}

/** The scores with the least error, all that share it, and those with less than the ladder's. */
function judged(scores) {
  const measure = "rmse" in scores[0] ? "rmse" : "error";
  const least = Math.min(...scores.map((s) => s[measure]));
  return {
    best: scores.filter((s) => s[measure] === least),
    better: scores.filter((s) => s[measure] < scores[0][measure]),
  };
}

const isNumber = (value) => typeof value === "number";
function scoreText(measure, value) {
  return measure === "rows" ? count(value) : format(value, measure === "seconds" ? 2 : 4);
}
