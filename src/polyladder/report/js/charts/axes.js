/* Scales, ticks and what charts have in common. */
import { draw } from "./elements.js";
import { short } from "./numbers.js";

/** Pixels that one character of a label takes. */
export const CHARACTER = 6.4;

/** Round numbers from lo to hi, about `count` of them. */
export function ticks(lo, hi, count) {
  const rough = (hi - lo) / Math.max(1, count);
  if (!(rough > 0)) return [lo];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((s) => s >= rough * 0.7);
  const found = [];
  for (let k = Math.ceil(lo / step - 1e-9); k * step <= hi + 1e-9 * step; k++) found.push(k * step);
  return found;
}

/** Ticks whose labels have room beside each other. */
export function roomyTicks(lo, hi, count, room, text = short, find = ticks) {
  for (let n = count; n > 1; n--) {
    const found = find(lo, hi, n);
    const widest = Math.max(...found.map((v) => text(v).length));
    const closest = Math.min(...found.slice(1).map((v, i) => v - found[i]));
    if ((closest / (hi - lo)) * room >= CHARACTER * widest + 8) return found;
  }
  return find(lo, hi, 1).slice(0, 2);
}

/** A map from values to pixels; `back` is its inverse. */
export function scale(lo, hi, from, to) {
  const span = hi - lo || 1;
  const map = (v) => from + ((v - lo) / span) * (to - from);
  map.back = (p) => lo + ((p - from) / (to - from)) * span;
  map.lo = lo;
  map.hi = hi;
  return map;
}

/** A value moved into [lo, hi]. */
export function within(v, lo, hi) {
  return Math.min(Math.max(v, lo), hi);
}

/** The range of some values with a margin on both sides; of equal ones, one unit. */
export function spanOf(values, margin) {
  let [lo, hi] = [Math.min(...values), Math.max(...values)];
  if (!(hi > lo)) [lo, hi] = [lo - 0.5, hi + 0.5];
  return [lo - margin * (hi - lo), hi + margin * (hi - lo)];
}

/** Grid lines and numbers of both axes. The frame is {left, right, top, bottom}. */
export function axes(svg, frame, x, y, options = {}) {
  const { xCount = 4, yCount = 4, xLabel = null, yLabel = null, text = short, xText = short, xTicks = ticks } = options;
  for (const v of ticks(y.lo, y.hi, yCount)) {
    draw(svg, "line", { class: "rule", x1: frame.left, x2: frame.right, y1: y(v), y2: y(v) });
    draw(svg, "text", { x: frame.left - 6, y: y(v) + 4, "text-anchor": "end" }, text(v));
  }
  let free = Number.NEGATIVE_INFINITY;
  for (const v of roomyTicks(x.lo, x.hi, xCount, frame.right - frame.left, xText, xTicks)) {
    const width = CHARACTER * xText(v).length;
    // A label at an end is moved inside, where it may reach its neighbor: that one is left out.
    const left = Math.max(frame.left, Math.min(x(v) - width / 2, frame.right - width));
    if (left < free) continue;
    free = left + width + 4;
    draw(svg, "text", { x: left + width / 2, y: frame.bottom + 15, "text-anchor": "middle" }, xText(v));
  }
  if (xLabel) draw(svg, "text", { x: frame.right, y: frame.bottom + 30, "text-anchor": "end" }, xLabel);
  if (yLabel) draw(svg, "text", { x: 0, y: 10, "text-anchor": "start" }, yLabel);
}

/** Room for the numbers of a vertical axis. */
export function margin(lo, hi, count, text = short) {
  return 12 + CHARACTER * Math.max(...ticks(lo, hi, count).map((v) => text(v).length));
}

/** A line through points, for a path. */
export function path(points) {
  return points.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(2)} ${y.toFixed(2)}`).join("");
}

/** Bars of a density between left and right. A square root keeps rare values visible beside frequent ones. */
export function densityBars({ edges, counts }, x, height) {
  const top = Math.max(...counts) || 1;
  const bars = counts.map((n, i) => ({ left: x(edges[i]), right: x(edges[i + 1]), h: height * Math.sqrt(n / top) }));
  return bars.filter((bar) => bar.h > 0);
}

/** A density along the bottom of a frame. */
export function density(svg, counts, x, bottom, height) {
  for (const { left, right, h } of densityBars(counts, x, height)) {
    const width = Math.max(1, right - left - 1);
    draw(svg, "rect", { class: "density", x: left + 0.5, y: bottom - h, width, height: h });
  }
}
