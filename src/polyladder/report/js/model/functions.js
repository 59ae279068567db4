/* Functions of one number as nested arrays: "x", a number, or an operation and what it is applied to. */

/** [value, slope] of a function at x, such as ["sin", ["*", "x", 0.26]]. */
export function functionAt(written, x) {
  if (written === "x") return [x, 1];
  if (typeof written === "number") return [written, 0];
  const [operation, ...given] = written;
  const [[a, da], [b, db] = [], [c] = []] = given.map((each) => functionAt(each, x));
  if (operation === "held") return [Math.min(Math.max(a, b), c), a > b && a < c ? da : 0];
  if (operation === "-") return [a - b, da - db];
  if (operation === "*") return [a * b, da * b + a * db];
  if (operation === "sin") return [Math.sin(a), Math.cos(a) * da];
  throw new Error(`unknown operation ${operation}`);
}
