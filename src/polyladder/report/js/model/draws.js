/* Values of many draws and outputs: picking, guarding and taking their middle. A rule says how; see `rule_of`. */

/** Values of one output from those of all. Shape (draws,). */
export function pick(values, outputs, output) {
  if (outputs === 1) return values;
  const found = new Float64Array(values.length / outputs);
  for (let s = 0; s < found.length; s++) found[s] = values[s * outputs + output];
  return found;
}

export function mean(values) {
  let sum = 0;
  for (let s = 0; s < values.length; s++) sum += values[s];
  return sum / values.length;
}

/** The middle value; of an even number of them the lower of the two in the middle. Sorts them. */
export function lowerMedian(values) {
  return values.sort()[(values.length - 1) >> 1];
}

/** A value held to the guard's range, where there is one. */
export function hold(guard, output, value) {
  return guard ? Math.min(Math.max(value, guard.low[output]), guard.high[output]) : value;
}

/**
 * Which draws of a posterior are believed: those whose outputs all lie in the guard's range; all, where none does.
 * `raw` holds all outputs of all draws.
 */
export function believed(rule, raw, outputs) {
  const all = Array.from({ length: raw.length / outputs }, (_, s) => s);
  if (!rule.guard) return all;
  const { low, high } = rule.guard;
  const inside = all.filter((s) => {
    for (let o = 0; o < outputs; o++) {
      const value = raw[s * outputs + o];
      if (!(value >= low[o] && value <= high[o])) return false;
    }
    return true;
  });
  return inside.length ? inside : all;
}

/** The middle of the draws' values of one output: their mean, guarded, or the median of those that are believed. */
export function center(rule, raw, outputs, output) {
  if (rule.combine !== "median") return hold(rule.guard, output, mean(pick(raw, outputs, output)));
  const chosen = believed(rule, raw, outputs);
  return lowerMedian(Float64Array.from(chosen, (s) => hold(rule.guard, output, raw[s * outputs + output])));
}
