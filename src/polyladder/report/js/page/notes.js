/* What the curves are, and how exact. */
import { isExact } from "../model/curve.js";
import { byId, charted, columns, data, model, rule } from "./content.js";

const INEXACT = {
  median: "The median of many polynomials",
  draws: "A mean of probabilities",
  mean: "A probability among several",
};

const SHAPES = {
  quantile: "Features are read as quantiles: a curve can jump at a value that many rows share.",
  "yeo-johnson": "Features pass a Yeo-Johnson transform, so a curve is a polynomial of the transformed feature.",
};

export function renderNotes() {
  let band = data.band.kind ? ` with its ${data.band.level} % band` : "";
  if (data.spread) band += ` and, darker, that of ${data.spread.percents[0]} %`;
  byId("curves-lead").textContent =
    `The prediction along each feature${band}, everything else as in your row. Triangles mark the lowest and the ` +
    "highest point, gray bars the data. Press on a chart to go there.";
  const notes = [
    isExact(model, rule)
      ? "Curves are evaluated from their exact polynomials; extremes are roots of the derivative."
      : `${INEXACT[rule.combine]} is not a polynomial: extremes are searched on a fine grid and refined.`,
  ];
  if (charted !== model) {
    notes.push(`Charts take ${charted.draws} of the ${model.draws} draws, the number above all of them.`);
  }
  const shape = columns.find((c) => c.kind === "numeric" && !c.functions)?.shape;
  if (shape in SHAPES) notes.push(SHAPES[shape]);
  const bent = columns.filter((c) => c.functions).map((c) => c.name);
  if (bent.length && isExact(model, rule)) {
    notes.push(`Along ${bent.join(", ")} a curve is no polynomial, and its extremes are searched on a fine grid.`);
  }
  byId("curves-note").textContent = notes.join(" ");
}
