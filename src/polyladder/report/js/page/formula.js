/* The polynomial itself, or its largest terms. */
import { make } from "../charts/elements.js";
import { count, format } from "../charts/numbers.js";
import { byId, classes, data, model } from "./content.js";
import { row } from "./row.js";
import { targetName } from "./words.js";

export function renderFormula() {
  const found = data.formula[classes && model.outputs === 1 ? 0 : row.output];
  byId("formula").hidden = !found;
  if (!found) return;
  const whole = found.rest === 0 && !found.searched;
  byId("formula-lead").textContent = lead(found, whole);
  const left = make("span", { class: "term" }, make("i", {}, classes ? "score" : targetName), whole ? " = " : " ≈ ");
  const right = found.terms.flatMap((term, k) => [termOf(term, k === 0), " "]);
  byId("formula-terms").replaceChildren(left, ...right, whole ? "" : " + …");
}

function lead({ own_units: own, total, terms, rest, searched }, whole) {
  const units = own ? "in the columns' own units" : "in transformed features: each has mean 0 and standard deviation 1";
  let others = "";
  if (searched) others = ` These are the largest among ${searched}.`;
  else if (!whole) {
    others =
      ` These are its largest terms; the other ${count(total - terms.length)} together stay below ` +
      `${format(rest, 3)} in size while every feature is within one standard deviation.`;
  }
  const link = classes ? " It is the score; probabilities follow from it." : "";
  return `A polynomial of order ${data.card.order} with ${count(total)} terms, ${units}.${others}${link}`;
}

function termOf([value, factors], first) {
  const minus = first ? "−" : " − ";
  const plus = first ? "" : " + ";
  const term = make("span", { class: "term" }, value < 0 ? minus : plus, format(Math.abs(value), 4));
  for (const [name, power] of factors) {
    term.append(" ", make("i", {}, name));
    if (power > 1) term.append(make("sup", {}, String(power)));
  }
  return term;
}
