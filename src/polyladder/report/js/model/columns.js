/* From the columns of a table to the transformed features z that ladders read, and back. */
import { functionAt } from "./functions.js";
import { decode } from "./ladder.js";
import { toQuantile, yeoJohnson, yeoJohnsonInverse, yeoJohnsonSlope } from "./shapes.js";

/** A column ready for use: numbers decoded, the pieces of its range found. */
export function column(spec) {
  const made = { ...spec };
  if (spec.kind !== "numeric") return made;
  if (spec.shape === "quantile") {
    made.knots = decode(spec.knots);
    made.levels = decode(spec.levels);
    made.mirrored = { knots: made.knots.map((v) => -v).reverse(), levels: made.levels.map((v) => -v).reverse() };
  }
  made.pieces = made.shape === "quantile" ? quantilePieces(made) : rampPieces(made);
  return made;
}

/** The range of a column in pieces between the knots of its ramps; in one piece where it has none. */
function rampPieces(col) {
  const whole = piece(col, col.low, col.high);
  if (!col.ramps) return [whole];
  const inner = [...new Set([...col.ramps.low, ...col.ramps.high])].filter((t) => t > whole.t0 && t < whole.t1);
  const ends = [whole.t0, ...inner.sort((a, b) => a - b), whole.t1];
  const values = ends.map((t) => backward(col, whole, t));
  return ends.slice(1).map((t1, i) => ({ x0: values[i], x1: values[i + 1], t0: ends[i], t1 }));
}

/**
 * Write a column's transformed value t, with its ramps, into the row z. Of a column that is read through functions of
 * its number, t is that number, and only they are written.
 */
export function place(col, z, t) {
  for (const [k, written] of col.functions ?? []) z[k] = functionAt(written, t)[0];
  if (col.functions) return;
  z[col.at] = t;
  col.ramps?.at.forEach((k, i) => {
    const { low, high, mean, scale } = col.ramps;
    z[k] = (Math.min(Math.max((t - low[i]) / (high[i] - low[i]), 0), 1) - mean[i]) / scale[i];
  });
}

/** The derivatives {input: slope} of a column's inputs by its transformed value t; at a knot those to its right. */
export function inputsAlong(col, t) {
  if (col.functions) return new Map(col.functions.map(([k, written]) => [k, functionAt(written, t)[1]]));
  const found = new Map([[col.at, 1]]);
  col.ramps?.at.forEach((k, i) => {
    const { low, high, scale } = col.ramps;
    if (t >= low[i] && t < high[i]) found.set(k, 1 / ((high[i] - low[i]) * scale[i]));
  });
  return found;
}

/** The range that clipping holds a column to: that of training, or a little more. */
const holdOf = (col) => col.hold ?? [col.low, col.high];

/** The transformed value of a number that is present. */
export function forward(col, x) {
  const [from, to] = holdOf(col);
  const held = col.clip ? Math.min(Math.max(x, from), to) : x;
  let shaped = held;
  if (col.shape === "quantile") shaped = toQuantile(col, held);
  else if (col.shape === "yeo-johnson") shaped = yeoJohnson(col.lambda, held);
  return (shaped - col.mean) / col.scale;
}

function piece(col, x0, x1) {
  return { x0, x1, t0: forward(col, x0), t1: forward(col, x1) };
}

/**
 * The range of a column of quantiles in pieces on which the transform is continuous and rising: [{x0, x1, t0, t1}].
 * Where many rows share one value, quantiles jump: the value is a piece of its own, x0 = x1, and the transformed values
 * between its neighbors and itself are never reached.
 */
function quantilePieces(col) {
  const { knots, levels } = col;
  const t = (level) => (level - col.mean) / col.scale;
  const found = [];
  for (let i = 0; i < knots.length; ) {
    let j = i;
    while (j + 1 < knots.length && knots[j + 1] === knots[i]) j++;
    if (j > i) found.push(piece(col, knots[i], knots[i]));
    if (j + 1 < knots.length) found.push({ x0: knots[j], x1: knots[j + 1], t0: t(levels[j]), t1: t(levels[j + 1]) });
    i = j + 1;
  }
  return found;
}

/** The lowest and the highest transformed value that the column takes. */
export function reachedRange(col) {
  return [col.pieces[0].t0, col.pieces[col.pieces.length - 1].t1];
}

/** The value of the column whose transform, within a piece, is t. */
export function backward(col, { x0, x1, t0, t1 }, t) {
  if (t1 <= t0 || t <= t0) return x0;
  if (t >= t1) return x1;
  if (col.shape === "yeo-johnson") return yeoJohnsonInverse(col.lambda, t * col.scale + col.mean);
  return x0 + ((t - t0) / (t1 - t0)) * (x1 - x0);
}

/** d(transformed) / d(value); 0 where clipping holds the value, NaN where the transform jumps. */
export function slope(col, x) {
  const [from, to] = holdOf(col);
  const outside = x < from || x > to;
  if (outside && (col.clip || col.shape === "quantile")) return 0;
  if (col.shape === "yeo-johnson") return yeoJohnsonSlope(col.lambda, x) / col.scale;
  if (col.shape !== "quantile") return 1 / col.scale;
  if (col.pieces.some((p) => p.x0 === p.x1 && p.x0 === x)) return Number.NaN;
  const at = col.pieces.find((p) => p.x0 < p.x1 && x >= p.x0 && x < p.x1) ?? col.pieces[col.pieces.length - 1];
  return (at.t1 - at.t0) / (at.x1 - at.x0);
}

/** Writes a number, missing if it is NaN, into the inputs of its column. */
function placeNumber(z, col, x) {
  const gone = Number.isNaN(x);
  const filled = gone ? (col.fill ?? Number.NaN) : x;
  if (col.kind === "numeric") place(col, z, forward(col, filled));
  // How far the number lies beyond its training range.
  for (const [k, written] of col.beyond ?? []) z[k] = functionAt(written, filled)[0];
  // A column that never changes has no input but for its gaps.
  if (col.flag !== null && col.flag !== undefined) z[col.flag] = gone ? 1 : 0;
}

/** One row of transformed features. Numbers: NaN is missing. Categories: position in the list, -1 for none of them. */
export function transform(columns, inputs, values) {
  const z = new Float64Array(inputs);
  columns.forEach((col, i) => {
    if (col.kind !== "category") placeNumber(z, col, values[i]);
    else if (values[i] >= 0) z[col.at + values[i]] = 1;
  });
  return z;
}

/** The row z with another value, or another category, in one column. */
export function replaced(col, z, value) {
  const found = Float64Array.from(z);
  if (col.kind === "category") {
    for (let k = 0; k < col.categories.length; k++) found[col.at + k] = k === value ? 1 : 0;
  } else {
    place(col, found, forward(col, value));
    if (col.flag !== null) found[col.flag] = 0;
  }
  return found;
}

/** The jumps of the transform by more than 1 % of its range: the value, and the limits from the left and the right. */
function visibleJumps(col) {
  const [lowest, highest] = reachedRange(col);
  return col.pieces.flatMap((p, i) => {
    if (p.x0 < p.x1) return [];
    const left = col.pieces[i - 1]?.t1 ?? p.t0;
    const right = col.pieces[i + 1]?.t0 ?? p.t0;
    return right - left < 0.01 * (highest - lowest) ? [] : [{ first: i === 0, x: p.x0, t: p.t0, left, right }];
  });
}

/**
 * Points {x, t} along the column for drawing, about `count` of them and even in x, in parts: at a visible jump one part
 * ends at the limit from the left and the next begins at that from the right, the value itself between them.
 */
export function samples(col, count) {
  if (!(col.high > col.low)) return [[{ x: col.low, t: forward(col, col.low) }]];
  const [lowest, highest] = reachedRange(col);
  const between = (from, to) => {
    const n = Math.max(1, Math.round((count * (to.x - from.x)) / (col.high - col.low)));
    const inner = Array.from({ length: n - 1 }, (_, i) => from.x + ((to.x - from.x) * (i + 1)) / n);
    return [from, ...inner.map((x) => ({ x, t: forward(col, x) })), to];
  };
  const parts = [];
  let from = { x: col.low, t: lowest };
  for (const { first, x, t, left, right } of visibleJumps(col)) {
    if (!first) parts.push(between(from, { x, t: left }));
    parts.push([{ x, t }]);
    from = { x, t: right };
  }
  if (from.x < col.high) parts.push(between(from, { x: col.high, t: highest }));
  return parts;
}
