/* What the model says of a row: values of outputs, probabilities of classes. */
import { probabilities, probit } from "./classes.js";
import { center } from "./draws.js";
import { evaluate } from "./ladder.js";

/** From the outputs of all draws to what is shown: {values} for numbers, {probabilities} for classes. */
export function combine(model, rule, raw, fine) {
  if (rule.combine === "draws") return { raw, probabilities: probit(model, rule, raw, fine) };
  const values = Array.from({ length: model.outputs }, (_, i) => center(rule, raw, model.outputs, i));
  if (rule.task !== "classification") return { raw, values };
  return { raw, values, probabilities: probabilities(values, rule.link) };
}

/** What the model says at z; for charts `fine` may be false. */
export function predict(model, rule, z, fine = true) {
  return combine(model, rule, evaluate(model, z), fine);
}

/** The shown quantity of an answer: a number, or the probability of a class. */
export function shown(rule, answer, output) {
  return rule.task === "classification" ? answer.probabilities[output] : answer.values[output];
}
