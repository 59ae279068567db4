/*
 * How far a polynomial can move while its inputs stay in a box around z. With q the derivatives by a layer's values and
 * u = W h + b, all at z, it moves by its linear part, which is exact, and by the sum over layers of q times the change of
 * the gates times the change of u; their sizes are bounded by intervals. So the ends are proven, but for rounding.
 */
import { climb, descend, eachDraw } from "./ladder.js";

/** Sizes of W or V times sizes of changes: rows of `k` numbers that start at `at`, or a diagonal. */
function sizes(w, at, k, alone, moves) {
  const found = new Float64Array(k);
  for (let i = 0; i < k; i++) {
    if (alone) found[i] = Math.abs(w[at + i]) * moves[i];
    else for (let j = 0; j < moves.length; j++) found[i] += Math.abs(w[at + i * moves.length + j]) * moves[j];
  }
  return found;
}

/** For every layer of a draw the largest product of the changes of its two factors. */
function products({ layers, weights: w }, o, tape, reach) {
  let moved = reach;
  let gate = null;
  return layers.map(({ k, alone, W, V }, l) => {
    if (V !== layers[l - 1]?.V) gate = sizes(w, o + V, k, false, reach);
    const inner = sizes(w, o + W, k, alone, moved);
    const [u, g] = tape[l];
    moved = inner.map((v, i) => Math.abs(g[i]) * v + (Math.abs(u[i]) + v) * gate[i]);
    return inner.map((v, i) => v * gate[i]);
  });
}

/**
 * By how much the mean of all draws of one output can fall and rise, {down, up}, while input j changes by `low[j]` (not
 * above 0) to `high[j]` (not below 0).
 */
export function swing(model, z, low, high, output) {
  const reach = low.map((v, j) => Math.max(-v, high[j]));
  const slope = new Float64Array(model.inputs);
  let rest = 0;
  eachDraw(model, (shape, o) => {
    const { tape } = climb(shape, o, z);
    const both = products(shape, o, tape, reach);
    descend(shape, o, tape, output, slope, (l, back) => {
      back.forEach((q, i) => {
        rest += Math.abs(q) * both[l][i];
      });
    });
  });
  let [down, up] = [-rest, rest];
  slope.forEach((s, j) => {
    up += Math.max(s * low[j], s * high[j]);
    down += Math.min(s * low[j], s * high[j]);
  });
  return { down: down / model.draws, up: up / model.draws };
}
