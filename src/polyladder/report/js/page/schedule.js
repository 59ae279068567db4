/* Drawing that follows a change of the row, in slices that leave the page responsive. */
import { ranked } from "./content.js";
import { renderContributions } from "./contributions.js";
import { renderCurve, renderSlopes, updateCurve } from "./curves.js";
import { mapSteps } from "./map.js";
import { renderReach } from "./reach.js";
import { slopes } from "./row.js";
import { renderWish } from "./wish.js";

/** Milliseconds of a slice. */
const SLICE = 12;

/** Columns that must be drawn again, and whether their curves must be found anew. */
const pending = new Map();
let listsPending = false;
let mapPending = false;
/** The steps under way, or null where all is drawn. */
let steps = null;
let queued = false;
let finish = null;
let settled = Promise.resolve();

/** A promise that all charts are up to date. */
export const whenSettled = () => settled;

/**
 * Bring the charts up to date as time allows, the strongest columns first. Along a column in `still` the curve stays;
 * only the point on it moves.
 */
export function scheduleCharts(still = []) {
  for (const i of ranked) pending.set(i, pending.get(i) || !still.includes(i));
  listsPending = true;
  scheduleMap();
}

/** Draw the map as time allows. */
export function scheduleMap() {
  mapPending = true;
  if (!steps) {
    settled = new Promise((resolve) => {
      finish = resolve;
    });
  }
  // A map that is half drawn begins anew; of the curves, what is pending is known.
  steps = allSteps();
  queue();
}

/** Draw all that is left, at once. */
export const drawAll = () => drawFor(Number.POSITIVE_INFINITY);

/** Draw for so many milliseconds, or until all is drawn. */
function drawFor(milliseconds) {
  const until = performance.now() + milliseconds;
  while (steps && performance.now() < until) {
    if (!steps.next().done) continue;
    steps = null;
    finish();
  }
}

// In idle time and not in frames: those come only to a page that is looked at.
const whenIdle = globalThis.requestIdleCallback
  ? (draw) => requestIdleCallback(draw, { timeout: 50 })
  : (draw) => setTimeout(draw);

function queue() {
  if (queued) return;
  queued = true;
  whenIdle(() => {
    queued = false;
    drawFor(SLICE);
    if (steps) queue();
  });
}

function* allSteps() {
  while (pending.size) {
    const [i, anew] = pending.entries().next().value;
    pending.delete(i);
    if (anew) updateCurve(i);
    renderCurve(i);
    yield;
  }
  if (listsPending) {
    listsPending = false;
    renderLists();
    renderContributions();
    renderWish();
    yield;
  }
  if (mapPending) yield* mapSteps();
  mapPending = false;
}

/** What needs all curves. */
export function renderLists() {
  const all = slopes();
  renderSlopes(all);
  renderReach(all);
}
