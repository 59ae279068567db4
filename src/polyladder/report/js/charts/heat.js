/* Values over two axes as colors, with contour lines. */
import { CHARACTER, margin, roomyTicks, scale, ticks, within } from "./axes.js";
import { canvas, draw, make } from "./elements.js";
import { short, wrapped } from "./numbers.js";

// Dark to light, even in lightness, readable without telling red from green.
const STOPS = [
  [35, 23, 81],
  [49, 58, 142],
  [37, 104, 163],
  [26, 147, 160],
  [70, 186, 133],
  [160, 214, 93],
  [247, 233, 105],
];

function color(share) {
  const at = within(share, 0, 1) * (STOPS.length - 1);
  const k = Math.min(Math.floor(at), STOPS.length - 2);
  return STOPS[k].map((c, i) => Math.round(c + (at - k) * (STOPS[k + 1][i] - c)));
}

/**
 * A map. An axis is {title, lo, hi, names}, names for categories only, one at each whole number.
 * values[row][column] at nodes, for categories one for each; contours: [[x, y, x, y], ...] in axis values.
 */
export function drawHeat(host, { values, xAxis, yAxis, range, contours, levels, points, current, label, text }) {
  const box = make("div", { class: "map" });
  host.replaceChildren(box);
  const room = Math.max(260, Math.floor(host.clientWidth));
  const { svg, height } = canvas(box, within(Math.round(room * 0.55), 280, 460), label);
  const frame = {
    left: Math.min(sideRoom(yAxis), room * 0.3),
    right: room - 74,
    top: 24,
    bottom: height - belowRoom(xAxis),
  };
  const x = scale(xAxis.lo, xAxis.hi, frame.left, frame.right);
  const y = scale(yAxis.lo, yAxis.hi, frame.bottom, frame.top);
  box.prepend(picture(values, range, frame, xAxis.names, yAxis.names));
  for (const [a, b] of points) draw(svg, "circle", { class: "row-dot", cx: x(a), cy: y(b), r: 2 });
  if (contours.length) {
    const at = (a, b) => `${x(a).toFixed(1)} ${y(b).toFixed(1)}`;
    const d = contours.map((line) => `M${at(line[0], line[1])}L${at(line[2], line[3])}`).join("");
    draw(svg, "path", { class: "contour", d });
  }
  for (const [v, name] of across(xAxis, frame.right - frame.left)) {
    drawName(svg, wrapped(name, 16), { x: x(v), y: frame.bottom + 15, "text-anchor": "middle" });
  }
  for (const [v, name] of up(yAxis, frame.bottom - frame.top)) {
    const lines = wrapped(name, 16);
    drawName(svg, lines, { x: frame.left - 6, y: y(v) + 4 - 6 * (lines.length - 1), "text-anchor": "end" });
  }
  draw(svg, "text", { x: frame.right, y: height - 4, "text-anchor": "end", class: "strong" }, xAxis.title);
  draw(svg, "text", { x: 0, y: 11, class: "strong" }, yAxis.title);
  drawColors(svg, frame, range, levels, text);
  const [cx, cy] = [x(current[0]), y(current[1])];
  draw(svg, "line", { class: "hair light", x1: cx, x2: cx, y1: frame.top, y2: frame.bottom });
  draw(svg, "line", { class: "hair light", x1: frame.left, x2: frame.right, y1: cy, y2: cy });
  draw(svg, "circle", { class: "point", cx, cy, r: 7 });
  const toValues = (px, py) => [
    x.back(within(px, frame.left, frame.right)),
    y.back(within(py, frame.top, frame.bottom)),
  ];
  return { svg, toValues };
}

/** A name in lines below each other, the first at a place. */
function drawName(svg, lines, { y, ...place }) {
  for (const [k, line] of lines.entries()) draw(svg, "text", { ...place, y: y + 12 * k }, line);
}

/** Room below the map for the names across. */
function belowRoom(axis) {
  return 36 + 12 * (axis.names ? Math.max(...axis.names.map((n) => wrapped(n, 16).length)) - 1 : 0);
}

function sideRoom(axis) {
  if (!axis.names) return margin(axis.lo, axis.hi, 5, axis.text);
  return 14 + CHARACTER * Math.max(...axis.names.flatMap((n) => wrapped(n, 16).map((line) => line.length)));
}

/** Labels [value, text] of the horizontal axis, as many as have room. */
function across(axis, room) {
  const { lo, hi, text = short, find } = axis;
  if (!axis.names) return roomyTicks(lo, hi, 8, room, text, find).map((v) => [v, text(v)]);
  const widest = Math.max(...axis.names.map((name) => Math.min(name.length, 16)));
  return thinnedNames(axis.names, 8 + CHARACTER * widest, room);
}

/** Labels of the vertical axis. */
function up(axis, room) {
  const { lo, hi, text = short, find = ticks } = axis;
  if (!axis.names) return find(lo, hi, 5).map((v) => [v, text(v)]);
  const lines = Math.max(...axis.names.map((name) => wrapped(name, 16).length));
  return thinnedNames(axis.names, 13 * lines, room);
}

function thinnedNames(names, each, room) {
  const every = Math.ceil((names.length * each) / room);
  return names.map((name, i) => [i, name]).filter(([i]) => i % every === 0);
}

/** The colors: one pixel for each value, stretched over the frame. */
function picture(values, range, frame, xNames, yNames) {
  const [rows, cols] = [values.length, values[0].length];
  const small = make("canvas", { width: cols, height: rows });
  const pixels = new ImageData(cols, rows);
  const span = range[1] - range[0] || 1;
  values.forEach((row, r) => {
    row.forEach((v, c) => {
      pixels.data.set([...color((v - range[0]) / span), 255], 4 * ((rows - 1 - r) * cols + c));
    });
  });
  small.getContext("2d").putImageData(pixels, 0, 0);
  const [w, h] = [frame.right - frame.left, frame.bottom - frame.top];
  const ratio = globalThis.devicePixelRatio || 1;
  const size = { width: Math.round(w * ratio), height: Math.round(h * ratio) };
  const large = make("canvas", { ...size, "aria-hidden": "true" });
  Object.assign(large.style, { left: `${frame.left}px`, top: `${frame.top}px`, width: `${w}px`, height: `${h}px` });
  const pen = large.getContext("2d");
  pen.imageSmoothingQuality = "high";
  pen.imageSmoothingEnabled = !(xNames && yNames);
  // Nodes lie on the edges of the map, so the outer half of each border pixel is left outside.
  const [cutX, cutY] = [xNames ? 0 : 0.5, yNames ? 0 : 0.5];
  pen.drawImage(small, cutX, cutY, cols - 2 * cutX, rows - 2 * cutY, 0, 0, large.width, large.height);
  return large;
}

/** What the colors mean. */
function drawColors(svg, { right, top, bottom }, range, levels, text) {
  const slices = 48;
  const step = (bottom - top) / slices;
  for (let i = 0; i < slices; i++) {
    const [r, g, b] = color((i + 0.5) / slices);
    const box = { x: right + 14, y: bottom - (i + 1) * step, width: 12, height: step + 0.6 };
    draw(svg, "rect", { ...box, fill: `rgb(${r},${g},${b})` });
  }
  const y = scale(range[0], range[1], bottom, top);
  for (const v of levels) draw(svg, "text", { x: right + 31, y: y(v) + 4 }, text(v));
}
