/* One curve, or one mark for each category: the prediction along one column. */
import { axes, CHARACTER, density, margin, path, roomyTicks, scale, within } from "./axes.js";
import { canvas, draw } from "./elements.js";
import { wrapped } from "./numbers.js";

/**
 * A curve with its band, the data's density, its extremes and the current point.
 * parts: [[{x, y, low, high, innerLow, innerHigh}]]; the ends of the band, and of one within it, may be missing. A part
 * of one point is a value on its own.
 */
export function drawCurve(host, { parts, domain, range, counts, low, high, point, label, text, xText, xTicks }) {
  const { svg, width, height } = canvas(host, 176, label);
  const frame = { left: margin(range[0], range[1], 4, text), right: width - 6, top: 12, bottom: height - 20 };
  const x = scale(domain[0], domain[1], frame.left, frame.right);
  const scaleY = scale(range[0], range[1], frame.bottom - 4, frame.top);
  // Far outside the window nothing is seen, and drawings do not take numbers of any size.
  const y = (v) => scaleY(within(v, 2 * range[0] - range[1], 2 * range[1] - range[0]));
  if (counts) density(svg, counts, x, frame.bottom, 30);
  axes(svg, frame, x, scaleY, { xCount: width > 330 ? 5 : 4, yCount: 4, text, xText, xTicks });
  const inside = framed(svg, frame);
  for (const part of parts) {
    if (part[0].low !== undefined) drawBand(inside, part, x, y, "low", "high");
    if (part[0].innerLow !== undefined) drawBand(inside, part, x, y, "innerLow", "innerHigh");
  }
  for (const part of parts) {
    if (part.length > 1) draw(inside, "path", { class: "curve", d: path(part.map((p) => [x(p.x), y(p.y)])) });
    else draw(inside, "circle", { class: "atom", cx: x(part[0].x), cy: y(part[0].y), r: 3 });
  }
  if (high.y > low.y) {
    drawExtreme(inside, x(high.x), scaleY(high.y), -1);
    drawExtreme(inside, x(low.x), scaleY(low.y), 1);
  }
  if (point) {
    draw(inside, "line", { class: "hair", x1: x(point.x), x2: x(point.x), y1: frame.top, y2: frame.bottom });
    draw(inside, "circle", { class: "point", cx: x(point.x), cy: y(point.y), r: 6 });
  }
  return { svg, toValue: (pixel) => within(x.back(pixel), domain[0], domain[1]) };
}

let windows = 0;

/** A group that shows nothing beyond its frame. */
function framed(svg, { left, right, top, bottom }) {
  const id = `window-${++windows}`;
  const hole = draw(draw(svg, "defs"), "clipPath", { id });
  draw(hole, "rect", { x: left - 6, y: top - 8, width: right - left + 12, height: bottom - top + 10 });
  return draw(svg, "g", { "clip-path": `url(#${id})` });
}

function drawBand(svg, part, x, y, low, high) {
  if (part.length === 1) {
    const [bottom, top] = [y(part[0][low]), y(part[0][high])];
    draw(svg, "rect", { class: "band", x: x(part[0].x) - 3, width: 6, y: top, height: Math.abs(bottom - top) });
    return;
  }
  const over = part.map((p) => [x(p.x), y(p[high])]);
  const under = part.map((p) => [x(p.x), y(p[low])]).reverse();
  draw(svg, "path", { class: "band", d: `${path([...over, ...under])}Z` });
}

/** A triangle above a highest point (way -1) or below a lowest one (way 1), pointing at it. */
function drawExtreme(svg, x, y, way) {
  const tip = y + 5 * way;
  const base = tip + 6 * way;
  draw(svg, "path", { class: "extreme", d: `M${x - 4} ${base}L${x + 4} ${base}L${x} ${tip}Z` });
}

/** Pixels of a line of a name, and characters that it may have. */
const [LINE, LONGEST] = [13, 24];

/** One mark for each category, with its band; the current one stands out. Items know their position as `k`. */
export function drawCategories(host, { items, current, range, label, text, onPick }) {
  const names = items.map((item) => wrapped(item.name, LONGEST));
  const heights = names.map((lines) => 11 + LINE * lines.length);
  const bottom = heights.reduce((a, b) => a + b, 4);
  const { svg, width } = canvas(host, bottom + 18, label);
  const longest = Math.max(1, ...names.flat().map((line) => line.length));
  const left = Math.min(width * 0.5, 14 + 6.6 * longest);
  const x = scale(range[0], range[1], left, width - 10);
  for (const v of roomyTicks(range[0], range[1], 3, width - left, text)) {
    draw(svg, "line", { class: "rule", x1: x(v), x2: x(v), y1: 2, y2: bottom });
    const anchor = x(v) + (CHARACTER * text(v).length) / 2 > width ? "end" : "middle";
    draw(svg, "text", { x: anchor === "end" ? width : x(v), y: bottom + 14, "text-anchor": anchor }, text(v));
  }
  let top = 2;
  items.forEach((item, i) => {
    const box = { top, height: heights[i], middle: top + heights[i] / 2, left, right: width - 10 };
    drawLevel(svg, item, names[i], box, x, range, item.k === current);
    const target = draw(svg, "rect", { x: 0, y: top, width, height: heights[i], fill: "transparent" });
    target.addEventListener("click", () => onPick(item.k));
    top += heights[i];
  });
}

function drawLevel(svg, item, lines, { middle, left, right }, x, range, chosen) {
  if (item.share) {
    draw(svg, "rect", { class: "density", x: left, y: middle + 7, width: item.share * (right - left), height: 3 });
  }
  lines.forEach((line, k) => {
    const y = middle + 4 + LINE * (k - (lines.length - 1) / 2);
    draw(svg, "text", { x: left - 8, y, "text-anchor": "end", class: chosen ? "strong" : "" }, line);
  });
  for (const band of [
    [item.low, item.high],
    [item.innerLow, item.innerHigh],
  ]) {
    if (band[0] === undefined) continue;
    const [a, b] = band.map((v) => x(within(v, range[0], range[1])));
    draw(svg, "rect", { class: "band", x: a, y: middle - 4, width: Math.max(0, b - a), height: 8 });
  }
  const mark = { cx: x(within(item.y, range[0], range[1])), cy: middle, r: chosen ? 6 : 4 };
  draw(svg, "circle", { class: chosen ? "point" : "atom", ...mark });
}
