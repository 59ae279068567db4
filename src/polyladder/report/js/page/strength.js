/* The strongest features and interactions over all rows. */
import { make, meter } from "../charts/elements.js";
import { format } from "../charts/numbers.js";
import { byId, classes, columns, data, used } from "./content.js";
import { showPair } from "./map.js";
import { named, plainName } from "./words.js";

export function renderStrength() {
  const { columns: single, pairs, over, note } = data.strengths;
  // One scale for both lists: an interaction that hardly matters beside the features must look so.
  const top = single[0]?.[1] || 1;
  const bar = (name, v) => [
    make("span", { class: "name" }, ...name),
    meter(Math.min(v / top, 1)),
    make("span", { class: "number" }, format(v, 3)),
  ];
  byId("strength-lead").textContent =
    `Typical change of the ${classes ? "score" : "prediction"} for one standard deviation of a feature, and how much ` +
    `two features change each other's effect. Exact derivatives, over ${over}.`;
  byId("strength-note").textContent = note ?? "";
  byId("strength-columns").replaceChildren(
    ...single.slice(0, 10).map(([i, v]) => make("div", { class: "item plain" }, ...bar(named(columns[i]), v))),
  );
  byId("strength-pair-part").hidden = used.length < 2;
  const none = make("p", { class: "empty" }, "None: no two features change each other's effect.");
  byId("strength-pairs").replaceChildren(
    ...(pairs.length ? [] : [none]),
    ...pairs.map(([i, j, v]) => {
      const name = `${plainName(columns[i])} × ${plainName(columns[j])}`;
      const onclick = () => showPair(i, j);
      return make("button", { type: "button", class: "item plain", onclick }, ...bar([name], v));
    }),
  );
}
