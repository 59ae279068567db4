/* Numbers with the ends of their intervals and the scales of their errors, as exported scripts give them. */
import { hold } from "./draws.js";

/**
 * All numbers, then all lower ends, all upper ends and all scales. The outputs of the ladders are the numbers, the log
 * scales, and what these grow by beyond the training ranges.
 */
export function banded({ guard, logs, most, widths }, outputs) {
  const m = widths.length;
  const each = widths.map((width, i) => {
    const value = hold(guard, i, outputs[i]);
    const scale = Math.exp(hold(logs, i, outputs[m + i]) + Math.min(outputs[2 * m + i], most));
    return [value, value - width * scale, value + width * scale, scale];
  });
  return [0, 1, 2, 3].flatMap((kind) => each.map((found) => found[kind]));
}
