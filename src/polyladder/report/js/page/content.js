/* What the page carries, ready for use: the model, its rule, its columns. None of it changes. */
import { column } from "../model/columns.js";
import { decode, ladder, thinned } from "../model/ladder.js";

export const byId = (id) => document.getElementById(id);

export const data = JSON.parse(byId("payload").textContent);
export const rule = data.rule;
export const classes = rule.task === "classification";
export const model = ladder(data.model);
export const columns = data.columns.map(column);

if (rule.combine === "draws") {
  for (const name of ["nodes", "weights"]) rule[name] = decode(rule[name]);
}

/** The noise of a posterior's draws, or null. */
export const noise = data.model.noise && {
  outputs: model.outputs,
  tilt: data.model.noise.tilt,
  scales: decode(data.model.noise.scales),
  degrees: decode(data.model.noise.degrees),
  slopes: decode(data.model.noise.slopes),
};

/** Where contributions start, and the nodes of the rule that integrates along the way. */
export const way = { ...data.way, start: decode(data.way.start) };

/** The model that charts ask. Probabilities of several classes are an integral for each draw: some draws must do. */
export const charted = rule.combine === "draws" && model.outputs > 1 ? thinned(model, 40) : model;

/** Columns that take part, in the order of the table and by strength. */
export const used = columns.map((_, i) => i).filter((i) => columns[i].kind !== "constant");
export const ranked = data.strengths.columns.map(([i]) => i).filter((i) => used.includes(i));

/** Columns that the model reads: those, and constant ones whose missing cells it knows of. */
export const read = columns.map((_, i) => i).filter((i) => columns[i].start !== undefined);
