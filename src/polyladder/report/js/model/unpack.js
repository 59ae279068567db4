/* A model as it travels, in a page or in a script of its own, made ready for use. */
import { column } from "./columns.js";
import { decode, ladder } from "./ladder.js";

/** {model, rule, columns, noise} from their descriptions; noise is null but for posteriors of numbers. */
export function unpacked({ model, rule, columns }) {
  const made = ladder(model);
  const numbers = rule.combine === "draws" ? { nodes: decode(rule.nodes), weights: decode(rule.weights) } : {};
  const noise = model.noise && {
    outputs: made.outputs,
    tilt: model.noise.tilt,
    scales: decode(model.noise.scales),
    degrees: decode(model.noise.degrees),
    slopes: decode(model.noise.slopes),
  };
  return { model: made, rule: { ...rule, ...numbers }, columns: columns.map(column), noise };
}
