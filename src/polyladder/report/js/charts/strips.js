/* Charts of one dimension: a value, and a range around it, along a line. */
import { density, scale, within } from "./axes.js";
import { canvas, draw } from "./elements.js";

/** Where the prediction and its band [low, high], perhaps with one within it, lie among all targets. */
export function drawStrip(host, { domain, counts, value, band, label, text }) {
  const { svg, width, height } = canvas(host, 46, label);
  const bottom = height - 16;
  const x = scale(domain[0], domain[1], 8, width - 8);
  if (counts) density(svg, counts, x, bottom - 4, bottom - 8);
  draw(svg, "line", { class: "rule", x1: 8, x2: width - 8, y1: bottom - 3, y2: bottom - 3 });
  const held = (v) => x(within(v, domain[0], domain[1]));
  const drawBand = (low, high) => drawBar(svg, held(low), Math.max(1, held(high) - held(low)), bottom - 6, 0.35);
  if (band) drawBand(band[0], band[1]);
  if (band?.length > 2) drawBand(band[2], band[3]);
  draw(svg, "circle", { class: "point", cx: held(value), cy: bottom - 3, r: 7 });
  draw(svg, "text", { x: 4, y: height - 1 }, text(domain[0]));
  draw(svg, "text", { x: width - 4, y: height - 1, "text-anchor": "end" }, text(domain[1]));
}

/** A line from the lowest to the highest value that one feature can reach, with the current one. */
export function drawReach(host, { range, low, high, value, label, text }) {
  const { svg, width } = canvas(host, 34, label);
  const x = scale(range[0], range[1], 6, width - 6);
  const [a, b] = [x(Math.max(low, range[0])), x(Math.min(high, range[1]))];
  draw(svg, "line", { class: "rule", x1: 6, x2: width - 6, y1: 11, y2: 11 });
  drawBar(svg, a, Math.max(2, b - a), 8, 0.75);
  draw(svg, "circle", { class: "point", cx: x(within(value, range[0], range[1])), cy: 11, r: 5.5 });
  // Numbers stand below the ends of the bar, or to both sides of its middle where that is too tight.
  const [first, last] = [text(low), text(high)];
  const tight = b - a < 7 * (first.length + last.length);
  const middle = within((a + b) / 2, 7 * first.length, width - 7 * last.length);
  draw(svg, "text", { x: tight ? middle - 4 : a, y: 30, "text-anchor": tight ? "end" : "start" }, first);
  draw(svg, "text", { x: tight ? middle + 4 : b, y: 30, "text-anchor": tight ? "start" : "end" }, last);
}

function drawBar(svg, x, width, y, opacity) {
  draw(svg, "rect", { class: "bar", "fill-opacity": opacity, x, y, width, height: 6, rx: 3 });
}
