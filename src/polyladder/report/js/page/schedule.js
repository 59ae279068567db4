/* Work that follows a change of the row, in slices that leave the page responsive. */
import { ranked } from "./content.js";
import { renderContributions } from "./contributions.js";
import { renderCurve, renderSlopes, updateCurve } from "./curves.js";
import { renderMap } from "./map.js";
import { renderReach } from "./reach.js";
import { slopes } from "./row.js";
import { renderWish } from "./wish.js";

/** Columns that must be drawn again, and whether their curves must be found anew. */
const pending = new Map();
let mapPending = false;
let running = false;
let settled = Promise.resolve();

/** A promise that all charts are up to date. */
export const whenSettled = () => settled;

/**
 * Bring the charts up to date as time allows, the strongest columns first. Along a column in `still` the curve stays;
 * only the point on it moves.
 */
export function scheduleCharts(still = []) {
  for (const i of ranked) pending.set(i, pending.get(i) || !still.includes(i));
  mapPending = true;
  if (running) return;
  running = true;
  settled = new Promise((resolve) => {
    requestAnimationFrame(() => work(resolve));
  });
}

function work(resolve) {
  const until = performance.now() + 12;
  while (pending.size && performance.now() < until) {
    const [i, anew] = pending.entries().next().value;
    pending.delete(i);
    if (anew) updateCurve(i);
    renderCurve(i);
  }
  if (pending.size) requestAnimationFrame(() => work(resolve));
  else finish(resolve);
}

/** What needs all curves. */
function finish(resolve) {
  renderLists();
  renderContributions();
  renderWish();
  running = false;
  if (mapPending) renderMap().then(resolve);
  else resolve();
  mapPending = false;
}

export function renderLists() {
  const all = slopes();
  renderSlopes(all);
  renderReach(all);
}
