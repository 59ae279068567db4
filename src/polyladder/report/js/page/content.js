/* What the page carries, ready for use: the model, its rule, its columns. None of it changes. */
import { decode, thinned } from "../model/ladder.js";
import { spreadOf } from "../model/spread.js";
import { unpacked } from "../model/unpack.js";

export const byId = (id) => document.getElementById(id);

export const data = JSON.parse(byId("payload").textContent);
const found = unpacked(data);
export const model = found.model;
export const rule = found.rule;
export const columns = found.columns;
/** The noise of a posterior's draws, or null. */
export const noise = found.noise;
/** How far new observations lie from predictions, or null where that was not learned. */
export const spread = data.spread && spreadOf(data.spread);
export const classes = rule.task === "classification";

/** Where contributions start, and the nodes of the rule that integrates along the way. */
export const way = { ...data.way, start: decode(data.way.start) };

/** The model that charts ask. Probabilities of several classes are an integral for each draw: some draws must do. */
export const charted = rule.combine === "draws" && model.outputs > 1 ? thinned(model, 40) : model;

/** Columns that take part, in the order of the table and by strength. */
export const used = columns.map((_, i) => i).filter((i) => columns[i].kind !== "constant");
export const ranked = data.strengths.columns.map(([i]) => i).filter((i) => used.includes(i));

/** Columns that the model reads: those, and constant ones whose missing cells it knows of. */
export const read = columns.map((_, i) => i).filter((i) => columns[i].start !== undefined);
