/* Putting the page together: build each part once, then follow the row. */
import { make } from "../charts/elements.js";
import { renderAnswer } from "./answer.js";
import { renderCandidates } from "./candidates.js";
import { renderCard, renderHead } from "./card.js";
import { byId, classes, columns, data, model, ranked, read, used } from "./content.js";
import { renderContributions, shownContributions } from "./contributions.js";
import { buildControl, syncControl } from "./controls.js";
import { buildFigure, curves, renderCurve, renderCurves, renderSlopes, startScale } from "./curves.js";
import { renderFormula } from "./formula.js";
import { renderMap, shownMap, startMap } from "./map.js";
import { renderNotes } from "./notes.js";
import { renderQuality } from "./quality.js";
import { startReach } from "./reach.js";
import { compute, onSet, row, set, slopes } from "./row.js";
import { drawAll, renderLists, scheduleCharts, scheduleMap, whenSettled } from "./schedule.js";
import { rowAsCsv, startSharing } from "./share.js";
import { renderStrength } from "./strength.js";
import { clearTogether, startTogether } from "./together.js";
import { renderWish, startWish, ways, wish } from "./wish.js";

/** Columns whose curves are shown from the start, where there are many. */
const FIRST = 12;

function showMore(button, list, reveal, what) {
  button.hidden = list.length === 0;
  button.textContent = `Show ${list.length} more ${what}`;
  button.addEventListener("click", () => {
    reveal();
    button.hidden = true;
  });
}

function startOutputs() {
  const { probabilities } = row.answer;
  if (classes && data.outputs.length > 2) row.output = probabilities.indexOf(Math.max(...probabilities));
  byId("output-field").hidden = data.outputs.length < 2;
  byId("output").append(...data.outputs.map((name, k) => make("option", { value: k }, classes ? `P(${name})` : name)));
  byId("output").value = String(row.output);
  byId("output").addEventListener("change", () => {
    row.output = Number(byId("output").value);
    startWish();
    clearTogether();
    renderAnswer();
    renderQuality();
    renderFormula();
    renderContributions();
    scheduleCharts();
  });
}

function startControls() {
  const first = used.length <= FIRST + 18 ? used : ranked.slice(0, FIRST + 12);
  const others = used.filter((i) => !first.includes(i));
  const gaps = read.filter((i) => !used.includes(i));
  byId("controls").replaceChildren(...[...first, ...gaps].map(buildControl));
  const reveal = () => {
    byId("controls").append(...others.map(buildControl));
    others.forEach(syncControl);
  };
  showMore(byId("more-controls"), others, reveal, "features");
  read.forEach(syncControl);
  byId("reset").addEventListener("click", () => set(Object.fromEntries(read.map((i) => [i, columns[i].start]))));
}

function startCurves() {
  const first = ranked.slice(0, used.length <= FIRST + 4 ? used.length : FIRST);
  const others = ranked.slice(first.length);
  byId("curve-grid").replaceChildren(...first.map(buildFigure));
  const reveal = () => {
    byId("curve-grid").append(...others.map(buildFigure));
    others.forEach(renderCurve);
    renderSlopes(slopes());
  };
  showMore(byId("more-curves"), others, reveal, "curves");
  startScale();
}

/** Drawings are as wide as their place, so they are made again when it changes. */
function followWidth() {
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth === width) return;
    width = innerWidth;
    renderCurves();
    renderAnswer();
    renderLists();
    renderMap();
    renderQuality();
  });
}

/**
 * The page has loaded once its charts are drawn, so that whoever waits for that to take a picture or to print finds
 * them. A document within that is open for writing holds up the one around it.
 */
function holdLoading(drawn) {
  const open = make("iframe", { hidden: true });
  document.body.append(open);
  open.contentDocument?.open();
  drawn.then(() => open.remove());
}

function start() {
  compute();
  startOutputs();
  startControls();
  startCurves();
  startMap(scheduleMap);
  startReach();
  startTogether(wish);
  byId("wish-value").addEventListener("input", () => {
    renderWish();
    clearTogether();
  });
  renderQuality();
  renderFormula();
  renderStrength();
  renderCandidates();
  renderCard();
  renderHead();
  renderNotes();
  startWish();
  renderAnswer();
  renderContributions();
  onSet((moved) => {
    moved.forEach(syncControl);
    clearTogether();
    renderAnswer();
    scheduleCharts(moved.length === 1 && columns[moved[0]].kind === "numeric" ? moved : []);
  });
  scheduleCharts();
  startSharing();
  followWidth();
  holdLoading(whenSettled());
  addEventListener("beforeprint", drawAll);
  document.body.dataset.ready = String(Math.round(performance.now()));
}

start();
// For tests and for the curious: what the page holds, and a promise that its charts are up to date.
globalThis.report = {
  data,
  columns,
  model,
  set,
  values: () => [...row.values],
  answer: () => row.answer,
  curve: (i) => curves[i],
  map: shownMap,
  ways,
  slopes,
  contributions: shownContributions,
  csv: rowAsCsv,
  settled: whenSettled,
};
