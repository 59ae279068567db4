/* Contour lines of a function of two variables. */
import { falsePosition } from "./search.js";

/**
 * Contour lines of every level by marching squares: [[x, y, x, y], ...]. Where a line crosses a side of a cell is not
 * interpolated: along the side the function is known, and the crossing is its zero.
 *
 * grid: nodes xs and ys, values[row][column], along[row] the function of x on that row, upward(column) that of y.
 * tolerance: of a crossing, as a share of the side of its cell.
 */
export function contours(grid, levels, tolerance) {
  return levels.flatMap((level) => {
    const sides = crossedSides(grid, level, tolerance);
    const found = [];
    for (let r = 0; r + 1 < grid.ys.length; r++) {
      for (let c = 0; c + 1 < grid.xs.length; c++) found.push(...cellLines(grid, level, sides, r, c));
    }
    return found;
  });
}

/** The points at which a level crosses the sides of cells; neighboring cells share them. */
function crossedSides({ xs, ys, along, upward }, level, tolerance) {
  const known = new Map();
  const once = (key, find) => {
    if (!known.has(key)) known.set(key, find());
    return known.get(key);
  };
  const zero = (f, lo, hi) => falsePosition((v) => f(v) - level, lo, hi, tolerance * (hi - lo));
  return {
    onRow: (r, c) => [once(`row ${r} ${c}`, () => zero(along[r], xs[c], xs[c + 1])), ys[r]],
    onColumn: (r, c) => [xs[c], once(`column ${r} ${c}`, () => zero(upward(c), ys[r], ys[r + 1]))],
  };
}

/** The one or two lines of a level through a cell, or none. */
function cellLines({ xs, values, along }, level, { onRow, onColumn }, r, c) {
  const above = (row, column) => values[row][column] > level;
  const [a, b, d, e] = [above(r, c), above(r, c + 1), above(r + 1, c), above(r + 1, c + 1)];
  const cut = [];
  if (a !== b) cut.push(onRow(r, c));
  if (b !== e) cut.push(onColumn(r, c + 1));
  if (d !== e) cut.push(onRow(r + 1, c));
  if (a !== d) cut.push(onColumn(r, c));
  if (cut.length === 0) return [];
  if (cut.length === 2) return [[...cut[0], ...cut[1]]];
  // A saddle: the middle of the cell says which corners belong together.
  const middle = along[r]((xs[c] + xs[c + 1]) / 2) > level;
  const [first, second, third, fourth] = cut;
  return middle === a
    ? [
        [...first, ...second],
        [...third, ...fourth],
      ]
    : [
        [...fourth, ...first],
        [...second, ...third],
      ];
}
