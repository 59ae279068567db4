/* Charts of errors: points over two axes, a histogram, a table of classes. */
import { axes, CHARACTER, margin, path, scale, spanOf, within } from "./axes.js";
import { canvas, draw } from "./elements.js";
import { count, wrapped } from "./numbers.js";

/**
 * Points over both axes, with a diagonal or a zero line as the ideal. `join` draws a line through them; of joined
 * points the one at x = `taken` stands out. `chance` gives the range [low, high] of a point that only chance moves.
 */
export function drawScatter(host, { points, xLabel, yLabel, ideal, label, join, square, domain, taken, chance }) {
  const { svg, width, height } = canvas(host, square ? 270 : 230, label);
  const [xSpan, ySpan] = domain ? [domain, domain] : spans(points, ideal === "diagonal");
  const frame = { left: margin(ySpan[0], ySpan[1], 5), right: width - 8, top: 20, bottom: height - 34 };
  const x = scale(xSpan[0], xSpan[1], frame.left, frame.right);
  const y = scale(ySpan[0], ySpan[1], frame.bottom, frame.top);
  const whole = join && points.every((p) => Number.isInteger(p[0]));
  axes(svg, frame, x, y, { xCount: whole ? Math.min(5, points.length) : 5, yCount: 5, xLabel, yLabel });
  if (chance) drawChance(svg, points, chance, x, y);
  drawIdeal(svg, ideal, x, y);
  if (join) draw(svg, "path", { class: "curve", d: path(points.map((p) => [x(p[0]), y(p[1])])) });
  for (const p of points) {
    draw(svg, "circle", { ...mark(p, points.length, join, taken), cx: x(p[0]).toFixed(1), cy: y(p[1]).toFixed(1) });
  }
}

function spans(points, alike) {
  const both = [0, 1].map((k) =>
    spanOf(
      points.map((p) => p[k]),
      0.04,
    ),
  );
  if (!alike) return both;
  const shared = [Math.min(both[0][0], both[1][0]), Math.max(both[0][1], both[1][1])];
  return [shared, shared];
}

function drawChance(svg, points, chance, x, y) {
  const ranges = points.map((p) => [p[0], ...chance(p).map((v) => within(v, y.lo, y.hi))]);
  const over = ranges.map(([at, , high]) => [x(at), y(high)]);
  const under = ranges.map(([at, low]) => [x(at), y(low)]).reverse();
  draw(svg, "path", { class: "chance", d: `${path([...over, ...under])}Z` });
}

function drawIdeal(svg, ideal, x, y) {
  if (ideal === "diagonal") {
    draw(svg, "line", { class: "ideal", x1: x(x.lo), y1: y(x.lo), x2: x(x.hi), y2: y(x.hi) });
  }
  if (ideal === "zero") draw(svg, "line", { class: "ideal", x1: x(x.lo), x2: x(x.hi), y1: y(0), y2: y(0) });
}

function mark([x], many, join, taken) {
  if (!join) return { class: "dot", r: many > 400 ? 2 : 3 };
  return x === taken ? { class: "point", r: 6 } : { class: "atom", r: 4 };
}

/** A histogram of numbers around zero. */
export function drawHistogram(host, { values, xLabel, label }) {
  const { svg, width, height } = canvas(host, 230, label);
  const widest = Math.max(...values.map(Math.abs)) || 1;
  const { edges, counts } = binned(values, -widest, widest, 31);
  const top = Math.max(...counts);
  const frame = { left: margin(0, top, 4), right: width - 8, top: 20, bottom: height - 34 };
  const x = scale(-widest, widest, frame.left, frame.right);
  const y = scale(0, top, frame.bottom, frame.top);
  axes(svg, frame, x, y, { xLabel, yLabel: "rows", xCount: 5 });
  counts.forEach((n, i) => {
    if (!n) return;
    const box = { x: x(edges[i]) + 0.5, y: y(n), width: Math.max(1, x(edges[i + 1]) - x(edges[i]) - 1) };
    draw(svg, "rect", { class: "bar", "fill-opacity": 0.8, ...box, height: frame.bottom - y(n) });
  });
  draw(svg, "line", { class: "ideal", x1: x(0), x2: x(0), y1: frame.top, y2: frame.bottom });
}

/** How many values lie in each of `bins` even parts of [low, high]. */
export function binned(values, low, high, bins) {
  const counts = new Array(bins).fill(0);
  for (const v of values) {
    if (v >= low && v <= high) counts[Math.min(bins - 1, Math.floor(((v - low) / (high - low)) * bins))] += 1;
  }
  return { edges: Array.from({ length: bins + 1 }, (_, i) => low + ((high - low) * i) / bins), counts };
}

/** Counts of rows by actual class (rows) and predicted class (columns). */
export function drawConfusion(host, { counts, names, label }) {
  const top = Math.max(...counts.flat()) || 1;
  const sides = names.map((name) => wrapped(name, 14));
  const left = 14 + CHARACTER * Math.max(...sides.flat().map((line) => line.length));
  const room = Math.max(200, host.clientWidth) - left;
  const step = Math.max(
    16,
    Math.min(56, Math.floor(room / counts.length)),
    13 * Math.max(...sides.map((s) => s.length)),
  );
  const below = names.map((name) => wrapped(name, Math.max(3, Math.floor(step / CHARACTER) - 1)));
  const labeled = step >= 32;
  const lines = labeled ? Math.max(...below.map((b) => b.length)) : 0;
  const { svg } = canvas(host, 26 + step * counts.length + 13 * lines, label);
  draw(svg, "text", { x: left, y: 10 }, "predicted");
  const middle = (c) => ({ x: left + step * c + step / 2, "text-anchor": "middle" });
  const stacked = (texts, place, y) => {
    for (const [k, line] of texts.entries()) draw(svg, "text", { ...place, y: y + 12 * k }, line);
  };
  counts.forEach((row, r) => {
    stacked(sides[r], { x: left - 6, "text-anchor": "end" }, 22 + step * (r + 0.5) - 6 * (sides[r].length - 1));
    row.forEach((n, c) => {
      const box = { x: left + step * c, y: 18 + step * r, width: step - 2, height: step - 2, rx: 4 };
      draw(svg, "rect", { class: "bar", ...box, "fill-opacity": 0.08 + 0.85 * (n / top) });
      if (step >= 26) draw(svg, "text", { class: "strong", ...middle(c), y: 22 + step * r + step / 2 }, count(n));
    });
  });
  for (const [c, texts] of labeled ? below.entries() : []) stacked(texts, middle(c), 30 + step * counts.length);
}
