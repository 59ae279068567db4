/*
 * What it takes with several columns together: the smallest share of their ranges within which a wanted value is found,
 * and the largest share within which it is proven not to exist.
 */
import { forward, place, samples, transform } from "./columns.js";
import { curve, extremes, isExact, levelOf } from "./curve.js";
import { mean, pick } from "./draws.js";
import { evaluate } from "./ladder.js";
import { predict, shown } from "./prediction.js";
import { falsePosition } from "./search.js";
import { swing } from "./swing.js";

/** Rounds through all columns, at most; halvings of the share that is looked for; points of a curve without formula. */
const ROUNDS = 4;
const HALVINGS = 12;
const POINTS = 12;

/** A column held to a share of its range around a value. */
export function narrowed(col, x, share) {
  const step = share * (col.high - col.low);
  const [low, high] = [Math.max(col.low, x - step), Math.min(col.high, x + step)];
  const pieces = col.pieces.flatMap((piece) => {
    const [x0, x1] = [Math.max(piece.x0, low), Math.min(piece.x1, high)];
    if (x0 > x1 || (x0 === x1 && piece.x0 < piece.x1 && low < high)) return [];
    const t0 = x0 === piece.x0 ? piece.t0 : forward(col, x0);
    return [{ x0, x1, t0, t1: x1 === piece.x1 ? piece.t1 : forward(col, x1) }];
  });
  return { ...col, low, high, pieces };
}

/** What is asked of a model: `way` is 1 if the wanted value lies above the present one, else -1. */
export function question(model, rule, columns, values, output, wanted, movable) {
  const z = transform(columns, model.inputs, values);
  const now = shown(rule, predict(model, rule, z), output);
  return { model, rule, columns, values, output, wanted, movable, z, now, way: wanted > now ? 1 : -1 };
}

/** The best value found within a share of the ranges: exact steps along one column after another, from some values. */
async function climbed(asked, share, from, pause) {
  const { model, rule, columns, output, movable, way } = asked;
  const values = [...from];
  let best = Number.NEGATIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round++) {
    const before = best;
    for (const i of movable) {
      const col = narrowed(columns[i], asked.values[i], share);
      const z = transform(columns, model.inputs, values);
      const along = curve(model, rule, z, col, output);
      const parts = along.a ? null : samples(col, POINTS).map((p) => p.map((s) => ({ ...s, y: along.value(s.t) })));
      const { low, high } = extremes(along, col, parts);
      const end = way > 0 ? high : low;
      if (way * end.y > best) {
        best = way * end.y;
        values[i] = end.x;
      }
      await pause();
    }
    if (best - before <= 1e-9 * Math.abs(best)) break;
  }
  return { values, y: way * best };
}

/** Values with which the wanted value is met, all changed in the same proportion: on the way from the present ones. */
function met({ model, rule, columns, values, output, wanted, movable }, end) {
  const at = (t) => {
    const found = [...values];
    for (const i of movable) found[i] += t * (end[i] - values[i]);
    return found;
  };
  const gap = (t) => shown(rule, predict(model, rule, transform(columns, model.inputs, at(t))), output) - wanted;
  return at(falsePosition(gap, 0, 1, 1e-12));
}

/** The largest change among the movable columns, as a share of the range. */
function shareOf({ columns, values, movable }, found) {
  return Math.max(...movable.map((i) => Math.abs(found[i] - values[i]) / (columns[i].high - columns[i].low)));
}

/**
 * The smallest change that is found: {values, share} where the wanted value is met, or {closest} with the best value of
 * all that was found in the whole ranges. `pause` is awaited between steps.
 */
export async function smallestChange(asked, pause) {
  const enough = (found) => asked.way * (found.y - asked.wanted) >= 0;
  let best = await climbed(asked, 1, asked.values, pause);
  if (!enough(best)) return { closest: best.y, values: best.values };
  let [low, high] = [0, 1];
  for (let step = 0; step < HALVINGS; step++) {
    const share = (low + high) / 2;
    const tried = await climbed(asked, share, asked.values, pause);
    if (enough(tried)) [best, high] = [tried, share];
    else low = share;
  }
  const values = met(asked, best.values);
  return { values, share: shareOf(asked, values) };
}

/** Changes of the inputs while each movable column stays within a share of its range: {low, high}, by input. */
function box({ columns, values, movable, z }, share) {
  const [low, high] = [new Float64Array(z.length), new Float64Array(z.length)];
  for (const i of movable) {
    const col = narrowed(columns[i], values[i], share);
    for (const x of [col.low, col.high]) {
      const moved = Float64Array.from(z);
      place(col, moved, forward(col, x));
      moved.forEach((v, j) => {
        low[j] = Math.min(low[j], v - z[j]);
        high[j] = Math.max(high[j], v - z[j]);
      });
    }
  }
  return { low, high };
}

/**
 * The largest share of the ranges, up to `most`, within which no change of the movable columns reaches the wanted value;
 * null where what is shown is no function of one polynomial, or a column no rising function of its number, so that
 * nothing is proven.
 */
export function provenShare(asked, most) {
  const { model, rule, columns, z, output, wanted, movable, way } = asked;
  if (!isExact(model, rule) || movable.some((i) => columns[i].functions)) return null;
  const level = levelOf(rule, output, wanted);
  if (level === null) return most;
  const classes = rule.task === "classification";
  const row = classes ? 0 : output;
  const value = mean(pick(evaluate(model, z), model.outputs, row));
  // The probability of the first of two classes falls where the polynomial rises.
  const rises = way * (classes && output === 0 ? -1 : 1) > 0;
  const safe = (share) => {
    const { low, high } = box(asked, share);
    const { down, up } = swing(model, z, low, high, row);
    return rises ? value + up < level : value + down > level;
  };
  if (safe(most)) return most;
  let [low, high] = [0, most];
  for (let step = 0; step < 2 * HALVINGS; step++) {
    const share = (low + high) / 2;
    if (safe(share)) low = share;
    else high = share;
  }
  return low;
}
