/* How far new observations lie from a prediction: intervals that are as wide as the errors of rows like this one. */
import { evaluate, ladder } from "./ladder.js";

const held = (x, low, high) => Math.min(Math.max(x, low), high);

/** The steps from a column's number to how far it lies beyond its training range. */
const STEPS = {
  blank: (x, code) => (x === code ? Number.NaN : x),
  fill: (x, value) => (Number.isNaN(x) ? value : x),
  clip: held,
  affine: (x, shift, scale) => (x - shift) / scale,
};

/** A spread from its description: its ladder gives the log scale. */
export function spreadOf(described) {
  return { ...described, ladder: ladder(described.ladder) };
}

/** The scale of the errors of an output at a row: values of its columns, and inputs z of the model. */
function scaleOf({ ladder: logScale, low, high, beyond, most }, values, z, output) {
  const inside = held(evaluate(logScale, z)[output], low[output], high[output]);
  let outside = 0;
  for (const { column, steps, growth } of beyond) {
    outside += growth[output] * steps.reduce((x, [name, ...numbers]) => STEPS[name](x, ...numbers), values[column]);
  }
  return Math.exp(inside + Math.min(outside, most));
}

/** Half the width of every interval of an output at a row, the narrowest first; arguments as above. */
export function halfWidths(spread, values, z, output) {
  const { groups, widths } = spread;
  const own = groups ? groups.widths[values[groups.column]] : null;
  const scale = scaleOf(spread, values, z, output);
  return (own ?? widths).map((width) => width[output] * scale);
}
