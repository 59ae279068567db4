/* How good it is: scores, errors, calibration and the orders that were tried, as far as they are known. */
import { make } from "../charts/elements.js";
import { count, format, percent } from "../charts/numbers.js";
import { drawConfusion, drawHistogram, drawScatter } from "../charts/scatter.js";
import { byId, classes, data } from "./content.js";
import { row } from "./row.js";
import { renderScores } from "./scores.js";

let chosen = 0;

/** Nine of ten shares of a calibrated model lie within so many standard deviations of what is stated. */
const NINE_IN_TEN = 1.645;

export function renderQuality() {
  const { quality, calibration, card } = data;
  const orders = data.order_path.length > 1;
  byId("quality").hidden = !(quality.length || calibration || orders || card.scores.length);
  if (byId("quality").hidden) return;
  byId("quality-grid").replaceChildren();
  byId("quality-rows").replaceChildren(...(quality.length > 1 ? quality.map(rowsButton) : []));
  renderScores();
  if (quality.length && classes) renderConfusion(quality[chosen]);
  else if (quality.length) renderErrors(quality[chosen]);
  if (calibration) renderCalibration(calibration);
  if (orders) renderOrders();
}

/** The button that chooses the rows whose errors are shown. */
function rowsButton({ label }, k) {
  const onclick = () => {
    chosen = k;
    renderQuality();
  };
  return make("button", { type: "button", "aria-pressed": String(k === chosen), onclick }, label);
}

/** One more chart with a title and a note. It is drawn when it has its place, which says how wide it may be. */
function addChart(title, note, draw, options) {
  const host = make("div");
  const head = [make("p", { class: "chart-title" }, title), make("p", { class: "chart-note" }, note)];
  byId("quality-grid").append(make("div", {}, ...head, host));
  draw(host, options);
}

function renderErrors({ predicted, observed, rows, label, rmse, r2 }) {
  const k = row.output;
  const points = predicted[k].map((p, r) => [p, observed[k][r]]);
  const residuals = points.map(([p, o]) => [p, o - p]);
  const share = r2[k] === null ? "" : `, R² ${format(r2[k], 3)}`;
  addChart("Predicted and observed", `${count(rows)} rows (${label}): RMSE ${format(rmse[k])}${share}`, drawScatter, {
    points,
    xLabel: "predicted",
    yLabel: "observed",
    ideal: "diagonal",
    square: true,
    label: "Observed against predicted values",
  });
  addChart("Residuals", "observed − predicted, against predicted", drawScatter, {
    points: residuals,
    xLabel: "predicted",
    yLabel: "residual",
    ideal: "zero",
    square: true,
    label: "Residuals against predicted values",
  });
  addChart("Spread of residuals", "observed − predicted", drawHistogram, {
    values: residuals.map(([, residual]) => residual),
    xLabel: "residual",
    label: "Histogram of residuals",
  });
}

function renderConfusion({ confusion, rows, label, error }) {
  addChart("Predicted and actual classes", `${count(rows)} rows (${label}): ${percent(error)} wrong`, drawConfusion, {
    counts: confusion,
    names: data.outputs,
    label: "Predicted against actual classes",
  });
}

function renderCalibration({ kind, label, points }) {
  let note = "how often the likeliest class is right, by its probability";
  if (kind === "intervals") note = "share of targets inside intervals of each level";
  else if (data.outputs.length === 2) note = `how often ${data.outputs[1]} is there, by its probability`;
  const rows = points.reduce((all, [, , n]) => (kind === "intervals" ? n : all + n), 0);
  note += `, in ${count(rows)} rows (${label}); gray: where nine in ten calibrated models lie`;
  addChart("Calibration", note, drawScatter, {
    points,
    chance: ([p, , n]) => [-1, 1].map((way) => p + way * NINE_IN_TEN * Math.sqrt((p * (1 - p)) / n)),
    xLabel: "stated",
    yLabel: "actual",
    ideal: "diagonal",
    domain: [0, 1],
    join: true,
    square: true,
    label: "Stated against actual probabilities",
  });
}

function renderOrders() {
  const note = data.order_note ?? "error of each order that was tried, by cross-validation on training rows";
  addChart("Order", note, drawScatter, {
    points: data.order_path,
    xLabel: "order",
    yLabel: "error",
    join: true,
    taken: data.card.order,
    label: `Error of each order that was tried; order ${data.card.order} was taken`,
  });
}
