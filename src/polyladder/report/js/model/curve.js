/*
 * The shown quantity along one numeric column, all else fixed: its values, extremes and crossings. Each ladder is then
 * a polynomial in the column's transformed value t.
 */
import { probabilities } from "./classes.js";
import { backward, forward, inputsAlong, place, reachedRange } from "./columns.js";
import { hold } from "./draws.js";
import { evaluate, line } from "./ladder.js";
import { combine, shown } from "./prediction.js";
import { derivative, horner, roots } from "./roots.js";
import { falsePosition, golden } from "./search.js";

/** Whether what is shown is a monotone function of one polynomial: not so a median, nor a softmax of several scores. */
export function isExact(model, rule) {
  return rule.combine === "mean" && !(rule.task === "classification" && model.outputs > 1);
}

/** The line along a column through z on one part of its range, around the middle of which its inputs are affine. */
function lineAlong(model, z, col, middle) {
  const at = Float64Array.from(z);
  const direction = new Float64Array(z.length);
  place(col, at, middle);
  for (const [k, slope] of inputsAlong(col, middle)) {
    direction[k] = slope;
    at[k] -= middle * slope;
  }
  return line(model, at, direction);
}

/**
 * The shown quantity (an output, or the probability of class `output`) as a function of a column's transformed value:
 * on each part of its range, from knot to knot, every ladder is one polynomial. While the quantity is a monotone
 * function of one polynomial, those are `a`, part by part, and extremes and crossings are exact: roots of derivatives
 * and of themselves. Any other has `a` null and is searched from what was drawn of it; so has that along a column which
 * is read through functions of its number.
 */
export function curve(model, rule, z, col, output) {
  if (col.functions) {
    const raw = (t) => {
      const moved = Float64Array.from(z);
      place(col, moved, t);
      return evaluate(model, moved);
    };
    return { a: null, at: raw, value: (t) => shown(rule, combine(model, rule, raw(t), false), output) };
  }
  const n = model.order + 1;
  const parts = col.ramps ? col.pieces : [{ t0: 0, t1: 0 }];
  const lines = parts.map(({ t0, t1 }) => lineAlong(model, z, col, (t0 + t1) / 2));
  const part = (t) => {
    let k = 0;
    while (k + 1 < parts.length && t > parts[k].t1) k++;
    return k;
  };
  const at = (t) => {
    const all = lines[part(t)];
    const found = new Float64Array(model.draws * model.outputs);
    for (let row = 0; row < found.length; row++) found[row] = horner(all, t, row * n, n);
    return found;
  };
  if (!isExact(model, rule)) {
    return { a: null, at, value: (t) => shown(rule, combine(model, rule, at(t), false), output) };
  }
  const classes = rule.task === "classification";
  const row = classes ? 0 : output;
  const a = lines.map((all) => {
    const mean = new Float64Array(n);
    for (let s = 0; s < model.draws; s++) {
      for (let j = 0; j < n; j++) mean[j] += all[(s * model.outputs + row) * n + j] / model.draws;
    }
    return mean;
  });
  const shownOf = classes ? (y) => probabilities([y])[output] : (y) => hold(rule.guard, output, y);
  return { a, at, value: (t) => shownOf(horner(a[part(t)], t)) };
}

/** For each piece of a column the roots of `change` of an exact curve's polynomial; one polynomial is solved once. */
function rootsByPiece(along, col, change) {
  if (along.a.length === 1) {
    const all = roots(change(along.a[0]), ...reachedRange(col));
    return col.pieces.map(() => all);
  }
  return col.pieces.map(({ t0, t1 }, i) => roots(change(along.a[i]), t0, t1));
}

/**
 * Lowest and highest value of a curve over the column's range: {low: {x, y}, high: {x, y}}. An exact curve is asked at
 * the ends of all pieces and at the roots of its derivative; any other is searched from the parts {x, t, y} that were
 * drawn of it.
 */
export function extremes(along, col, parts) {
  if (along.a === null) return { low: searched(along, col, parts, 1), high: searched(along, col, parts, -1) };
  const turning = rootsByPiece(along, col, derivative);
  const asked = col.pieces.flatMap((piece, i) => {
    return [piece.t0, ...turning[i].filter((t) => t > piece.t0 && t < piece.t1), piece.t1].map((t) => {
      return { x: backward(col, piece, t), y: along.value(t) };
    });
  });
  return {
    low: asked.reduce((best, p) => (p.y < best.y ? p : best)),
    high: asked.reduce((best, p) => (p.y > best.y ? p : best)),
  };
}

/** The lowest (way 1) or highest (way -1) of the drawn points, refined between its neighbors. */
function searched(along, col, parts, way) {
  const drawn = parts.flatMap((part) =>
    part.map((p, k) => ({ ...p, before: part[k - 1] ?? p, after: part[k + 1] ?? p })),
  );
  const best = drawn.reduce((a, p) => (way * p.y < way * a.y ? p : a));
  const x = golden((v) => way * along.value(forward(col, v)), best.before.x, best.after.x);
  const y = along.value(forward(col, x));
  return way * y < way * best.y ? { x, y } : { x: best.x, y: best.y };
}

/** All values of the column at which the curve takes the wanted value, ascending; `parts` as for `extremes`. */
export function solve(along, col, wanted, rule, output, parts) {
  if (along.a === null) return crossings(along, col, wanted, parts);
  const level = levelOf(rule, output, wanted);
  if (level === null) return [];
  const found = rootsByPiece(along, col, (a) => Array.from(a, (v, j) => (j === 0 ? v - level : v)));
  return col.pieces.flatMap((piece, i) => {
    // Neighboring pieces share an end, which counts once.
    const last = i === col.pieces.length - 1;
    const inside = found[i].filter((t) => t >= piece.t0 && (t < piece.t1 || (last && t === piece.t1)));
    return inside.map((t) => backward(col, piece, t));
  });
}

/** The value of the polynomial at which the shown quantity is as wanted; null if it is never so. */
export function levelOf({ task, guard }, output, wanted) {
  if (task === "classification") {
    if (wanted <= 0 || wanted >= 1) return null;
    return (output === 1 ? 1 : -1) * Math.log(wanted / (1 - wanted));
  }
  return guard && (wanted < guard.low[output] || wanted > guard.high[output]) ? null : wanted;
}

/** Crossings between neighboring drawn points on either side of the wanted value, refined. */
function crossings(along, col, wanted, parts) {
  const gap = (x) => along.value(forward(col, x)) - wanted;
  const tolerance = 1e-9 * (col.high - col.low);
  return parts.flatMap((part) =>
    part.slice(1).flatMap((p, k) => {
      const before = part[k];
      return before.y > wanted === p.y > wanted ? [] : [falsePosition(gap, before.x, p.x, tolerance)];
    }),
  );
}
