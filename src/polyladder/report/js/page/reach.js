/* How far each feature alone can take the prediction. */
import { make } from "../charts/elements.js";
import { format, percent, short } from "../charts/numbers.js";
import { drawReach } from "../charts/strips.js";
import { byId, classes, columns, rule, used } from "./content.js";
import { curves } from "./curves.js";
import { row, sharedRange, shownValue } from "./row.js";
import { named, show, slopeText } from "./words.js";

const SLOPES = {
  mean: "its exact slope here",
  median: "the middle of the draws' exact slopes here",
  draws: "its slope here",
};

export function startReach() {
  byId("reach-lead").textContent = `How far each feature alone can take it, and ${SLOPES[rule.combine]}.`;
}

/** The list, widest reach first; `all` holds the slopes of all columns. */
export function renderReach(all) {
  const spread = (i) => curves[i].high.y - curves[i].low.y;
  const order = used.filter((i) => curves[i]).sort((a, b) => spread(b) - spread(a));
  const list = make("div", { class: "list" });
  byId("reach-list").replaceChildren(list);
  for (const i of order.slice(0, 15)) {
    const slope = make("span", { class: "slope" }, slopeText(i, all[i]));
    const host = make("div");
    const name = make("div", { class: "name" }, ...named(columns[i]), slope);
    list.append(make("div", { class: "item", "data-column": i }, name, host));
    const [low, high] = [curves[i].low.y, curves[i].high.y];
    const label = `${columns[i].name}: from ${show(low)} to ${show(high)}`;
    drawReach(host, { range: sharedRange(), low, high, value: shownValue(row.answer), text: endText, label });
  }
}

function endText(v) {
  if (classes) return percent(v);
  return Math.abs(v) < 1e5 ? format(v, 3) : short(v);
}
