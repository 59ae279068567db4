"use strict";
/* Small charts as plain SVG. They draw what they are given and know nothing of models. Text is always set as text. */
const Charts = (() => {
  const SPACE = "http://www.w3.org/2000/svg";

  /** A new element of the page: make("p", {class: "note"}, "text or", elements). */
  function make(tag, attributes = {}, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (value === false || value === null || value === undefined) continue;
      if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
      else node.setAttribute(name, value === true ? "" : value);
    }
    node.append(...children.filter((c) => c !== null && c !== undefined));
    return node;
  }

  function draw(parent, tag, attributes = {}, text = null) {
    const node = document.createElementNS(SPACE, tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    if (text !== null) node.textContent = text;
    parent.append(node);
    return node;
  }

  /** An empty drawing as wide as its host. */
  function canvas(host, height, label) {
    const width = Math.max(120, Math.floor(host.clientWidth || 280));
    const svg = document.createElementNS(SPACE, "svg");
    for (const [name, value] of Object.entries({ width, height, viewBox: `0 0 ${width} ${height}`, role: "img" })) {
      svg.setAttribute(name, value);
    }
    svg.setAttribute("aria-label", label);
    host.replaceChildren(svg);
    return { svg, width, height };
  }

  /** A number to so many significant digits, with thousands marked and never more decimals than they need. */
  function format(x, digits = 4) {
    if (x === null || x === undefined || Number.isNaN(x)) return "–";
    const size = Math.abs(x);
    if (size === 0) return "0";
    if (size < 1e-4 || size >= 1e12) return x.toExponential(2).replaceAll("-", "−").replace("e+", "e");
    const whole = size >= 10 ** (digits - 1);
    const options = whole ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: digits };
    return x.toLocaleString("en-US", options).replaceAll("-", "−");
  }

  /** A number beside an axis: as `format`, millions as 1M. */
  function short(x) {
    if (Math.abs(x) < 1e5 || Math.abs(x) >= 1e15) return format(x);
    return x.toLocaleString("en-US", { notation: "compact", maximumSignificantDigits: 3 }).replaceAll("-", "−");
  }

  /** Ticks whose labels have room beside each other. */
  function roomyTicks(lo, hi, count, room, text = short) {
    for (let n = count; n > 1; n--) {
      const found = ticks(lo, hi, n);
      const widest = Math.max(...found.map((v) => text(v).length));
      if (found.length * (6.4 * widest + 8) <= room) return found;
    }
    return ticks(lo, hi, 1).slice(0, 2);
  }

  function signed(x, digits = 3) {
    return (x > 0 ? "+" : "") + format(x, digits);
  }

  /** Round numbers from lo to hi, about `count` of them. */
  function ticks(lo, hi, count) {
    const rough = (hi - lo) / Math.max(1, count);
    if (!(rough > 0)) return [lo];
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((s) => s >= rough * 0.7);
    const found = [];
    for (let k = Math.ceil(lo / step - 1e-9); k * step <= hi + 1e-9 * step; k++) found.push(k * step);
    return found;
  }

  function scale(lo, hi, from, to) {
    const span = hi - lo || 1;
    const map = (v) => from + ((v - lo) / span) * (to - from);
    map.back = (p) => lo + ((p - from) / (to - from)) * span;
    map.lo = lo;
    map.hi = hi;
    return map;
  }

  /** Grid lines and numbers of both axes. The frame is {left, right, top, bottom}. */
  function axes(svg, frame, x, y, { xCount = 4, yCount = 4, xLabel = null, yLabel = null, text = short } = {}) {
    const yTicks = ticks(y.lo, y.hi, yCount);
    for (const v of yTicks) {
      draw(svg, "line", { class: "rule", x1: frame.left, x2: frame.right, y1: y(v), y2: y(v) });
      draw(svg, "text", { x: frame.left - 6, y: y(v) + 4, "text-anchor": "end" }, text(v));
    }
    for (const v of roomyTicks(x.lo, x.hi, xCount, frame.right - frame.left)) {
      const anchor = x(v) < frame.left + 12 ? "start" : x(v) > frame.right - 12 ? "end" : "middle";
      draw(svg, "text", { x: x(v), y: frame.bottom + 15, "text-anchor": anchor }, short(v));
    }
    if (xLabel) draw(svg, "text", { x: frame.right, y: frame.bottom + 30, "text-anchor": "end" }, xLabel);
    if (yLabel) draw(svg, "text", { x: 0, y: 10, "text-anchor": "start" }, yLabel);
  }

  /** Room for the numbers of a vertical axis. */
  function margin(lo, hi, count, text = short) {
    return 12 + 6.4 * Math.max(...ticks(lo, hi, count).map((v) => text(v).length));
  }

  function path(points) {
    return points.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(2)} ${y.toFixed(2)}`).join("");
  }

  function area(points) {
    const back = points.map(([x, , low]) => [x, low]).reverse();
    return `${path([...points, ...back])}Z`;
  }

  /** Bars of a density along the bottom of a frame. */
  function density(svg, { edges, counts }, x, bottom, height) {
    const top = Math.max(...counts) || 1;
    counts.forEach((count, i) => {
      if (!count) return;
      // A square root keeps rare values visible beside frequent ones.
      const h = height * Math.sqrt(count / top);
      const left = x(edges[i]);
      draw(svg, "rect", { class: "density", x: left + 0.5, y: bottom - h, width: Math.max(1, x(edges[i + 1]) - left - 1), height: h });
    });
  }

  /**
   * A curve with its band, the data's density, its extremes and the current point.
   * parts: [[{x, y, low, high}]]; low and high may be missing. A part of one point is a value on its own.
   */
  function curve(host, { parts, domain, range, counts, low, high, point, label, text }) {
    const { svg, width, height } = canvas(host, 176, label);
    const frame = { left: margin(range[0], range[1], 4, text), right: width - 6, top: 12, bottom: height - 20 };
    const x = scale(domain[0], domain[1], frame.left, frame.right);
    const y = scale(range[0], range[1], frame.bottom - 4, frame.top);
    const clip = (v) => Math.min(Math.max(v, range[0] - (range[1] - range[0])), range[1] + (range[1] - range[0]));
    const window = `w${Math.random().toString(36).slice(2)}`;
    const hole = draw(draw(svg, "defs"), "clipPath", { id: window });
    draw(hole, "rect", { x: frame.left - 6, y: frame.top - 8, width: frame.right - frame.left + 12, height: frame.bottom - frame.top + 10 });
    if (counts) density(svg, counts, x, frame.bottom, 30);
    axes(svg, frame, x, y, { xCount: width > 330 ? 5 : 4, yCount: 4, text });
    const inside = draw(svg, "g", { "clip-path": `url(#${window})` });
    for (const part of parts) {
      if (part[0].low === undefined) continue;
      if (part.length > 1) draw(inside, "path", { class: "band", d: area(part.map((p) => [x(p.x), y(clip(p.high)), y(clip(p.low))])) });
      else draw(inside, "rect", { class: "band", x: x(part[0].x) - 3, width: 6, y: y(clip(part[0].high)), height: Math.abs(y(clip(part[0].low)) - y(clip(part[0].high))) });
    }
    for (const part of parts) {
      if (part.length > 1) draw(inside, "path", { class: "curve", d: path(part.map((p) => [x(p.x), y(clip(p.y))])) });
      else draw(inside, "circle", { class: "atom", cx: x(part[0].x), cy: y(clip(part[0].y)), r: 3 });
    }
    const mark = (at, up) => {
      const [cx, cy] = [x(at.x), y(at.y) + (up ? -5 : 5)];
      const tip = up ? -6 : 6;
      draw(inside, "path", { class: "extreme", d: `M${cx - 4} ${cy + tip}L${cx + 4} ${cy + tip}L${cx} ${cy}Z` });
    };
    if (high && high.y > low.y) {
      mark(high, true);
      mark(low, false);
    }
    if (point) {
      draw(inside, "line", { class: "hair", x1: x(point.x), x2: x(point.x), y1: frame.top, y2: frame.bottom });
      draw(inside, "circle", { class: "point", cx: x(point.x), cy: y(clip(point.y)), r: 6 });
    }
    return { svg, toValue: (pixel) => Math.min(Math.max(x.back(pixel), domain[0]), domain[1]) };
  }

  /** One mark for each category, with its band; the current one stands out. */
  function categories(host, { items, current, range, label, text, onPick }) {
    const step = 24;
    const { svg, width } = canvas(host, items.length * step + 22, label);
    const left = Math.min(width * 0.42, 12 + 6.6 * Math.max(...items.map((i) => Math.min(i.name.length, 22))));
    const x = scale(range[0], range[1], left, width - 10);
    const bottom = items.length * step + 4;
    for (const v of roomyTicks(range[0], range[1], 3, width - left, text)) {
      draw(svg, "line", { class: "rule", x1: x(v), x2: x(v), y1: 2, y2: bottom });
      draw(svg, "text", { x: x(v), y: bottom + 14, "text-anchor": "middle" }, text(v));
    }
    items.forEach((item, i) => {
      const cy = i * step + step / 2 + 2;
      const name = item.name.length > 22 ? `${item.name.slice(0, 21)}…` : item.name;
      if (item.share) draw(svg, "rect", { class: "density", x: left, y: cy + 7, width: item.share * (width - 10 - left), height: 3 });
      draw(svg, "text", { x: left - 8, y: cy + 4, "text-anchor": "end", class: i === current ? "strong" : "" }, name);
      if (item.low !== undefined) {
        const [a, b] = [item.low, item.high].map((v) => x(Math.min(Math.max(v, range[0]), range[1])));
        draw(svg, "rect", { class: "band", x: a, y: cy - 4, width: Math.max(0, b - a), height: 8 });
      }
      draw(svg, "circle", { class: i === current ? "point" : "atom", cx: x(item.y), cy, r: i === current ? 6 : 4 });
      const target = draw(svg, "rect", { x: 0, y: cy - step / 2, width, height: step, fill: "transparent" });
      target.addEventListener("click", () => onPick(i));
    });
  }

  /** A strip: where the prediction and its band lie among all targets. */
  function strip(host, { domain, counts, value, band, label }) {
    const { svg, width, height } = canvas(host, 46, label);
    const bottom = height - 16;
    const x = scale(domain[0], domain[1], 8, width - 8);
    if (counts) density(svg, counts, x, bottom - 4, bottom - 8);
    draw(svg, "line", { class: "rule", x1: 8, x2: width - 8, y1: bottom - 3, y2: bottom - 3 });
    const hold = (v) => x(Math.min(Math.max(v, domain[0]), domain[1]));
    if (band) draw(svg, "rect", { class: "bar", "fill-opacity": 0.35, x: hold(band[0]), y: bottom - 6, width: Math.max(1, hold(band[1]) - hold(band[0])), height: 6, rx: 3 });
    draw(svg, "circle", { class: "point", cx: hold(value), cy: bottom - 3, r: 7 });
    draw(svg, "text", { x: 4, y: height - 1 }, format(domain[0]));
    draw(svg, "text", { x: width - 4, y: height - 1, "text-anchor": "end" }, format(domain[1]));
  }

  /** A line from the lowest to the highest value that one feature can reach, with the current one. */
  function reach(host, { range, low, high, value, label, text }) {
    const { svg, width } = canvas(host, 34, label);
    const x = scale(range[0], range[1], 6, width - 6);
    const [a, b] = [x(Math.max(low, range[0])), x(Math.min(high, range[1]))];
    draw(svg, "line", { class: "rule", x1: 6, x2: width - 6, y1: 11, y2: 11 });
    draw(svg, "rect", { class: "bar", "fill-opacity": 0.75, x: a, y: 8, width: Math.max(2, b - a), height: 6, rx: 3 });
    draw(svg, "circle", { class: "point", cx: x(Math.min(Math.max(value, range[0]), range[1])), cy: 11, r: 5.5 });
    // Numbers stand below the ends of the bar, or to both sides of it where that is too tight.
    const [first, last] = [text(low), text(high)];
    const tight = b - a < 7 * (first.length + last.length);
    const middle = Math.min(Math.max((a + b) / 2, 7 * first.length), width - 7 * last.length);
    draw(svg, "text", { x: tight ? middle - 4 : a, y: 30, "text-anchor": tight ? "end" : "start" }, first);
    draw(svg, "text", { x: tight ? middle + 4 : b, y: 30, "text-anchor": tight ? "start" : "end" }, last);
  }

  /** Points over both axes, with a diagonal or a zero line as the ideal. */
  function scatter(host, { points, xLabel, yLabel, ideal, label, join = false, square = false, domain = null }) {
    const { svg, width, height } = canvas(host, square ? 270 : 230, label);
    const span = (values) => {
      let [lo, hi] = [Math.min(...values), Math.max(...values)];
      if (!(hi > lo)) [lo, hi] = [lo - 0.5, hi + 0.5];
      return [lo - 0.04 * (hi - lo), hi + 0.04 * (hi - lo)];
    };
    let xSpan = span(points.map((p) => p[0]));
    let ySpan = span(points.map((p) => p[1]));
    if (ideal === "diagonal") xSpan = ySpan = [Math.min(xSpan[0], ySpan[0]), Math.max(xSpan[1], ySpan[1])];
    if (domain) xSpan = ySpan = domain;
    const frame = { left: margin(ySpan[0], ySpan[1], 5), right: width - 8, top: 20, bottom: height - 34 };
    const x = scale(xSpan[0], xSpan[1], frame.left, frame.right);
    const y = scale(ySpan[0], ySpan[1], frame.bottom, frame.top);
    const whole = join && points.every((p) => Number.isInteger(p[0]));
    axes(svg, frame, x, y, { xCount: whole ? Math.min(5, points.length) : 5, yCount: 5, xLabel, yLabel });
    if (ideal === "diagonal") draw(svg, "line", { class: "ideal", x1: x(xSpan[0]), y1: y(xSpan[0]), x2: x(xSpan[1]), y2: y(xSpan[1]) });
    if (ideal === "zero") draw(svg, "line", { class: "ideal", x1: frame.left, x2: frame.right, y1: y(0), y2: y(0) });
    if (join) draw(svg, "path", { class: "curve", d: path(points.map((p) => [x(p[0]), y(p[1])])) });
    const radius = join ? 4 : points.length > 400 ? 2 : 3;
    for (const p of points) draw(svg, "circle", { class: join ? "atom" : "dot", cx: x(p[0]).toFixed(1), cy: y(p[1]).toFixed(1), r: radius });
    return { svg, x, y, frame };
  }

  /** A histogram of numbers. */
  function histogram(host, { values, xLabel, label }) {
    const { svg, width, height } = canvas(host, 230, label);
    const reachOf = Math.max(...values.map(Math.abs)) || 1;
    const bins = 31;
    const edges = Array.from({ length: bins + 1 }, (_, i) => -reachOf + (2 * reachOf * i) / bins);
    const counts = new Array(bins).fill(0);
    for (const v of values) counts[Math.min(bins - 1, Math.floor(((v + reachOf) / (2 * reachOf)) * bins))] += 1;
    const top = Math.max(...counts);
    const frame = { left: margin(0, top, 4), right: width - 8, top: 20, bottom: height - 34 };
    const x = scale(-reachOf, reachOf, frame.left, frame.right);
    const y = scale(0, top, frame.bottom, frame.top);
    axes(svg, frame, x, y, { xLabel, yLabel: "rows", xCount: 5 });
    counts.forEach((count, i) => {
      if (count) draw(svg, "rect", { class: "bar", "fill-opacity": 0.8, x: x(edges[i]) + 0.5, y: y(count), width: Math.max(1, x(edges[i + 1]) - x(edges[i]) - 1), height: frame.bottom - y(count) });
    });
    draw(svg, "line", { class: "ideal", x1: x(0), x2: x(0), y1: frame.top, y2: frame.bottom });
  }

  // Dark to light, even in lightness, readable without telling red from green.
  const STOPS = [[35, 23, 81], [49, 58, 142], [37, 104, 163], [26, 147, 160], [70, 186, 133], [160, 214, 93], [247, 233, 105]];

  function color(share) {
    const at = Math.min(Math.max(share, 0), 1) * (STOPS.length - 1);
    const k = Math.min(Math.floor(at), STOPS.length - 2);
    return STOPS[k].map((c, i) => Math.round(c + (at - k) * (STOPS[k + 1][i] - c)));
  }

  /**
   * Values over two axes as colors, with contour lines.
   * values[row][column] at nodes xs, ys (for categories: one a cell); contours: [[x, y, x, y], ...] in axis values.
   */
  function heat(host, { values, xAxis, yAxis, range, contours, levels, points, current, label, text }) {
    host.replaceChildren();
    const box = make("div", { class: "map" });
    host.append(box);
    const width = Math.max(260, Math.floor(host.clientWidth));
    const height = Math.min(460, Math.max(280, Math.round(width * 0.55)));
    const { svg } = canvas(box, height, label);
    const names = (axis) => (axis.names ? 14 + 6.4 * Math.max(...axis.names.map((n) => Math.min(n.length, 16))) : margin(axis.lo, axis.hi, 5));
    const frame = { left: Math.min(names(yAxis), width * 0.3), right: width - 74, top: 24, bottom: height - 36 };
    const x = scale(xAxis.lo, xAxis.hi, frame.left, frame.right);
    const y = scale(yAxis.lo, yAxis.hi, frame.bottom, frame.top);
    const area = { w: frame.right - frame.left, h: frame.bottom - frame.top };

    const [rows, cols] = [values.length, values[0].length];
    const small = make("canvas", { width: cols, height: rows });
    const pixels = new ImageData(cols, rows);
    values.forEach((row, r) => row.forEach((v, c) => {
      const place = 4 * ((rows - 1 - r) * cols + c);
      pixels.data.set([...color((v - range[0]) / (range[1] - range[0] || 1)), 255], place);
    }));
    small.getContext("2d").putImageData(pixels, 0, 0);
    const ratio = globalThis.devicePixelRatio || 1;
    const picture = make("canvas", { width: Math.round(area.w * ratio), height: Math.round(area.h * ratio), "aria-hidden": "true" });
    Object.assign(picture.style, { left: `${frame.left}px`, top: `${frame.top}px`, width: `${area.w}px`, height: `${area.h}px` });
    const pen = picture.getContext("2d");
    pen.imageSmoothingQuality = "high";
    // Nodes lie on the edges of the map, so the outer half of each border pixel is left outside.
    const [cutX, cutY] = [xAxis.names ? 0 : 0.5, yAxis.names ? 0 : 0.5];
    pen.imageSmoothingEnabled = !(xAxis.names && yAxis.names);
    pen.drawImage(small, cutX, cutY, cols - 2 * cutX, rows - 2 * cutY, 0, 0, picture.width, picture.height);
    box.prepend(picture);

    for (const p of points) draw(svg, "circle", { class: "row-dot", cx: x(p[0]), cy: y(p[1]), r: 2 });
    if (contours.length) draw(svg, "path", { class: "contour", d: contours.map(([a, b, c, d]) => `M${x(a).toFixed(1)} ${y(b).toFixed(1)}L${x(c).toFixed(1)} ${y(d).toFixed(1)}`).join("") });
    const side = (axis, map, across) => {
      const cut = (axis.names ?? []).map((name, i) => [i, name.length > 16 ? `${name.slice(0, 15)}…` : name]);
      const room = across ? 8 + 6.4 * Math.max(...cut.map(([, name]) => name.length)) : 13;
      const every = Math.ceil((cut.length * room) / (across ? area.w : area.h));
      const list = axis.names ? cut.filter(([i]) => i % every === 0) : (across ? roomyTicks(axis.lo, axis.hi, 8, area.w) : ticks(axis.lo, axis.hi, 5)).map((v) => [v, short(v)]);
      for (const [v, text] of list) {
        if (across) draw(svg, "text", { x: map(v), y: frame.bottom + 15, "text-anchor": "middle" }, text);
        else draw(svg, "text", { x: frame.left - 6, y: map(v) + 4, "text-anchor": "end" }, text);
      }
    };
    side(xAxis, x, true);
    side(yAxis, y, false);
    draw(svg, "text", { x: frame.right, y: height - 4, "text-anchor": "end", class: "strong" }, xAxis.title);
    draw(svg, "text", { x: 0, y: 11, class: "strong" }, yAxis.title);
    const scaleY = scale(range[0], range[1], frame.bottom, frame.top);
    const slices = 48;
    for (let i = 0; i < slices; i++) {
      const [r, g, b] = color((i + 0.5) / slices);
      draw(svg, "rect", { x: frame.right + 14, y: frame.bottom - ((i + 1) * area.h) / slices, width: 12, height: area.h / slices + 0.6, fill: `rgb(${r},${g},${b})` });
    }
    for (const v of levels) draw(svg, "text", { x: frame.right + 31, y: scaleY(v) + 4 }, text(v));
    draw(svg, "line", { class: "hair light", x1: x(current[0]), x2: x(current[0]), y1: frame.top, y2: frame.bottom });
    draw(svg, "line", { class: "hair light", x1: frame.left, x2: frame.right, y1: y(current[1]), y2: y(current[1]) });
    draw(svg, "circle", { class: "point", cx: x(current[0]), cy: y(current[1]), r: 7 });
    return {
      svg,
      toValues: (px, py) => [x.back(Math.min(Math.max(px, frame.left), frame.right)), y.back(Math.min(Math.max(py, frame.top), frame.bottom))],
    };
  }

  return { make, draw, canvas, format, short, signed, ticks, scale, curve, categories, strip, reach, scatter, histogram, heat };
})();
