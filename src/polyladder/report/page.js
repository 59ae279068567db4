"use strict";
/* The page: holds one row of values, asks Ladder what the model makes of it, has Charts draw the answers. */
(() => {
  const { make, format, signed } = Charts;
  const data = JSON.parse(document.getElementById("payload").textContent);
  const $ = (id) => document.getElementById(id);
  const rule = data.rule;
  const classes = rule.task === "classification";
  const model = Ladder.ladder(data.model);
  const noise = data.model.noise && { outputs: model.outputs, tilt: data.model.noise.tilt };
  if (noise) for (const name of ["scales", "degrees", "slopes"]) noise[name] = Ladder.decode(data.model.noise[name]);
  if (rule.combine === "draws") for (const name of ["nodes", "weights"]) rule[name] = Ladder.decode(rule[name]);
  // Probabilities of several classes are an integral for each draw: charts make do with some of them.
  const charted = rule.combine === "draws" && model.outputs > 1 ? Ladder.thinned(model, 40) : model;
  const columns = data.columns.map(Ladder.column);
  const used = columns.map((_, i) => i).filter((i) => columns[i].kind !== "constant");
  const ranked = data.strengths.columns.map(([i]) => i);
  const FIRST = 12;

  const state = {
    values: columns.map((c) => (c.kind === "constant" ? NaN : c.start)),
    output: classes && data.outputs.length === 2 ? 1 : 0,
    z: null,
    answer: null,
    curves: new Array(columns.length).fill(null),
    dirty: new Set(),
    shown: new Set(ranked.slice(0, used.length <= FIRST + 4 ? used.length : FIRST)),
    sameScale: true,
    mapDirty: true,
    map: null,
    quality: 0,
  };

  // A unit in brackets at the end of a name is shown apart from it.
  const plainName = (c) => (c.unit ? c.name.replace(/\s*[([][^()[\]]*[)\]]\s*$/, "") || c.name : c.name);
  const unitOf = (c) => (c.unit ? ` ${c.unit}` : "");
  const named = (c) => [plainName(c), c.unit ? make("small", {}, ` ${c.unit}`) : null];
  const targetName = data.unit ? plainName({ name: data.target, unit: data.unit }) : data.target;
  const shownName = () => (classes ? `P(${targetName} = ${data.outputs[state.output]})` : data.outputs.length > 1 ? `${targetName}, ${data.outputs[state.output]}` : targetName);
  const percent = (p) => `${format(100 * p, 3)} %`;
  const show = (v) => (classes ? percent(v) : format(v));
  const tick = (v) => (classes ? percent(v) : Charts.short(v));

  // ---- The model at the current row -----------------------------------------------------------------------------------

  const valueOf = (answer) => Ladder.shown(rule, answer, state.output);

  /** The error band around a value: around the center, or of the draws with their noise. */
  function bandOf(value, z, raw, options) {
    if (data.band.kind === "residuals") {
      const half = data.band.half[Math.min(state.output, data.band.half.length - 1)];
      return [value - half, value + half];
    }
    if (data.band.kind !== "draws") return null;
    const tail = (1 - data.band.level / 100) / 2;
    return Ladder.interval(rule, raw(), noise, z, state.output, tail, options);
  }

  function compute() {
    state.z = Ladder.transform(columns, model.inputs, state.values);
    state.answer = Ladder.predict(model, rule, state.z);
  }

  /** The exact curve of column i through the current row, sampled for drawing. */
  function curveOf(i) {
    const col = columns[i];
    if (col.kind === "category") {
      const items = col.categories.map((name, k) => {
        const z = Float64Array.from(state.z);
        col.categories.forEach((_, j) => (z[col.at + j] = j === k ? 1 : 0));
        const answer = Ladder.predict(charted, rule, z, false);
        const y = valueOf(answer);
        const band = bandOf(y, z, () => answer.raw);
        const total = col.density ? col.density.counts.reduce((a, b) => a + b, 0) : 0;
        return { name, y, low: band?.[0], high: band?.[1], share: total ? col.density.counts[k] / total : 0 };
      });
      const ys = items.map((item) => item.y);
      const [low, high] = [Math.min(...ys), Math.max(...ys)];
      return { items, low: { x: ys.indexOf(low), y: low }, high: { x: ys.indexOf(high), y: high } };
    }
    const z = Float64Array.from(state.z);
    if (col.flag !== null) z[col.flag] = 0;
    const curve = Ladder.curve(charted, rule, z, col.at, state.output);
    let near = null;
    const parts = Ladder.samples(col, data.posterior ? 64 : 120).map((part) =>
      part.map(({ x, t }) => {
        const y = curve.value(t);
        z[col.at] = t;
        const band = bandOf(y, z, () => curve.at(t), { near });
        near = band;
        return band ? { x, t, y, low: band[0], high: band[1] } : { x, t, y };
      }),
    );
    return { curve, parts, ...Ladder.extremes(curve, col, parts) };
  }

  /** Partial derivatives of the shown quantity, in the columns' units; NaN where there is none. */
  function slopes() {
    const byInput = inputSlopes();
    return columns.map((col, i) => {
      if (col.kind !== "numeric" || Number.isNaN(state.values[i])) return NaN;
      return byInput(i) * Ladder.slope(col, state.values[i]);
    });
  }

  /** For column i the derivative with respect to its transformed value. */
  function inputSlopes() {
    if (rule.combine === "draws") {
      // A mean of probabilities over draws: central differences along each line.
      const step = 1e-4;
      return (i) => {
        const at = (t) => {
          const z = Float64Array.from(state.z);
          z[columns[i].at] += t;
          return valueOf(Ladder.predict(charted, rule, z));
        };
        return (at(step) - at(-step)) / (2 * step);
      };
    }
    const row = classes && model.outputs === 1 ? 0 : state.output;
    const raw = Ladder.gradient(model, state.z, row);
    const mean = (j) => Ladder.pick(raw, model.inputs, j).reduce((a, b) => a + b, 0) / model.draws;
    if (classes) {
      const all = classSlopes(Array.from({ length: model.inputs }, (_, j) => mean(j)));
      return (i) => all[columns[i].at];
    }
    if (rule.combine === "mean") {
      const value = state.answer.values[row];
      const held = rule.guard && (value <= rule.guard.low[row] || value >= rule.guard.high[row]);
      return (i) => (held ? 0 : mean(columns[i].at));
    }
    // Draws that the guard holds do not move. The middle of the believed draws' slopes says more than that of the one draw
    // which happens to be the median.
    const values = Ladder.pick(state.answer.raw, model.outputs, row);
    const chosen = Ladder.believed(rule, state.answer.raw, model.outputs);
    return (i) => {
      const each = Ladder.pick(raw, model.inputs, columns[i].at);
      const moving = Float64Array.from(chosen, (s) => (Ladder.hold(rule.guard, row, values[s]) === values[s] ? each[s] : 0));
      return moving.sort()[(moving.length - 1) >> 1];
    };
  }

  /** From slopes of scores to the slope of a probability. */
  function classSlopes(first) {
    const p = state.answer.probabilities;
    if (model.outputs === 1) return first.map((g) => (state.output === 1 ? 1 : -1) * p[0] * p[1] * g);
    const all = Array.from({ length: model.outputs }, (_, k) => {
      const raw = Ladder.gradient(model, state.z, k);
      // One versus rest reads log(sigmoid(score)), whose slope is 1 - sigmoid.
      const link = rule.link === "one-versus-rest" ? 1 / (1 + Math.exp(state.answer.values[k])) : 1;
      return Array.from({ length: model.inputs }, (_, j) => {
        const each = Ladder.pick(raw, model.inputs, j);
        return (link * each.reduce((a, b) => a + b, 0)) / each.length;
      });
    });
    return first.map((_, j) => {
      const mean = all.reduce((sum, g, k) => sum + p[k] * g[j], 0);
      return p[state.output] * (all[state.output][j] - mean);
    });
  }

  /** The values that a shared vertical axis must hold. */
  function sharedRange() {
    if (classes) return [0, 1];
    const [low, high] = data.range[state.output];
    const margin = 0.05 * (high - low);
    return [low - margin, high + margin];
  }

  function rangeOf(found) {
    if (state.sameScale) return sharedRange();
    const values = found.items
      ? found.items.flatMap((item) => [item.y, item.low ?? item.y, item.high ?? item.y])
      : found.parts.flatMap((part) => part.flatMap((p) => [p.y, p.low ?? p.y, p.high ?? p.y]));
    let [lo, hi] = [Math.min(...values), Math.max(...values)];
    if (!(hi > lo)) [lo, hi] = [lo - 0.5, hi + 0.5];
    return [lo - 0.06 * (hi - lo), hi + 0.06 * (hi - lo)];
  }

  // ---- Changing the row -----------------------------------------------------------------------------------------------

  /** Set some columns ({column: value}) and bring everything up to date: the answer now, the charts as time allows. */
  function set(changes) {
    const moved = Object.keys(changes).map(Number);
    for (const i of moved) {
      state.values[i] = changes[i];
      syncControl(i);
    }
    compute();
    renderAnswer();
    for (const i of used) {
      // Along its own column the curve stays as it is; only the point on it moves.
      if (moved.length === 1 && moved[0] === i && columns[i].kind === "numeric" && state.curves[i]) state.dirty.add(`point ${i}`);
      else state.dirty.add(`curve ${i}`);
    }
    state.mapDirty = true;
    schedule();
  }

  let running = false;
  let settled = Promise.resolve();
  function schedule() {
    if (running) return;
    running = true;
    settled = new Promise((resolve) => {
      const work = () => {
        const until = performance.now() + 12;
        while (performance.now() < until) {
          const next = state.dirty.values().next();
          if (next.done) {
            renderReach();
            renderWish();
            running = false;
            if (state.mapDirty) renderMap().then(resolve);
            else resolve();
            state.mapDirty = false;
            return;
          }
          state.dirty.delete(next.value);
          const [kind, i] = next.value.split(" ");
          if (kind === "curve") state.curves[i] = curveOf(Number(i));
          if (state.shown.has(Number(i))) renderCurve(Number(i));
        }
        requestAnimationFrame(work);
      };
      requestAnimationFrame(work);
    });
  }

  // ---- The answer -----------------------------------------------------------------------------------------------------

  function renderAnswer() {
    const value = valueOf(state.answer);
    const box = $("answer-value");
    $("answer-name").textContent = shownName();
    box.replaceChildren(show(value), data.unit && !classes ? make("small", {}, ` ${data.unit}`) : "");
    box.classList.toggle("long", show(value).length > 8);
    box.dataset.value = String(value);
    const band = bandOf(value, state.z, () => state.answer.raw, { fine: true });
    const text = $("answer-band");
    if (band) {
      const from = data.band.kind === "draws" ? `${data.band.level} % interval of the posterior` : `${data.band.level} % of ${data.band.source} are this close`;
      text.replaceChildren(make("b", {}, `${show(band[0])} to ${show(band[1])}`), `: ${from}`);
      box.dataset.low = String(band[0]);
      box.dataset.high = String(band[1]);
    } else text.textContent = "";
    if (classes) {
      box.dataset.probabilities = JSON.stringify(state.answer.probabilities);
      const order = state.answer.probabilities.map((p, i) => [p, i]).sort((a, b) => b[0] - a[0]).slice(0, 6);
      $("answer-chart").replaceChildren(...order.map(([p, i]) => {
        const meter = make("span");
        meter.style.width = `${100 * p}%`;
        return make("div", { class: "class-line" }, make("span", { class: "name" }, data.outputs[i]), make("div", { class: "meter" }, meter), make("span", { class: "number" }, percent(p)));
      }));
      return;
    }
    const [low, high] = data.range[state.output];
    Charts.strip($("answer-chart"), { domain: [low, high], counts: targetDensity(), value, band, label: `${shownName()}: ${show(value)} within ${format(low)} to ${format(high)}` });
  }

  /** Histogram of the targets that were observed, if any are known. */
  function targetDensity() {
    const rows = data.quality[0];
    if (!rows || classes) return null;
    const values = rows.observed[state.output];
    const [low, high] = data.range[state.output];
    const bins = 36;
    const counts = new Array(bins).fill(0);
    for (const v of values) if (v >= low && v <= high) counts[Math.min(bins - 1, Math.floor(((v - low) / (high - low)) * bins))] += 1;
    return { edges: Array.from({ length: bins + 1 }, (_, i) => low + ((high - low) * i) / bins), counts };
  }

  // ---- Controls -------------------------------------------------------------------------------------------------------

  const controls = new Map();

  function digitsFor(col) {
    const step = (col.high - col.low) / 1000;
    return step > 0 ? Math.max(0, Math.min(12, Math.ceil(-Math.log10(step)))) : 6;
  }

  function buildControl(i) {
    const col = columns[i];
    const id = `control-${i}`;
    if (col.kind === "category") {
      const select = make("select", { id, onchange: () => set({ [i]: Number(select.value) }) });
      col.categories.forEach((name, k) => select.append(make("option", { value: k }, name)));
      controls.set(i, { select });
      return make("div", { class: "control" }, make("div", { class: "control-line" }, make("label", { for: id }, ...named(col))), select);
    }
    const slider = make("input", { type: "range", id, min: col.low, max: col.high, step: "any", oninput: () => set({ [i]: slider.valueAsNumber }) });
    const number = make("input", { type: "number", step: "any", "aria-label": `${col.name}, as a number`, onchange: () => {
      if (Number.isFinite(number.valueAsNumber)) set({ [i]: number.valueAsNumber });
      else syncControl(i);
    } });
    const held = make("span", { class: "held", hidden: true });
    const parts = [make("div", { class: "control-line" }, make("label", { for: id }, ...named(col)), number)];
    if (col.density && col.density.edges.length) parts.push(densityStrip(col));
    parts.push(slider, held);
    const found = { slider, number, held, missing: null };
    if (col.flag !== null) {
      found.missing = make("input", { type: "checkbox", onchange: () => set({ [i]: found.missing.checked ? NaN : slider.valueAsNumber }) });
      parts.push(make("label", { class: "missing" }, found.missing, "missing"));
    }
    controls.set(i, found);
    return make("div", { class: "control" }, ...parts);
  }

  function densityStrip(col) {
    const space = "http://www.w3.org/2000/svg";
    const svg = document.createElementNS(space, "svg");
    const { edges, counts } = col.density;
    // The thumb's center moves between half its width from either end, and so do the bars.
    const [inset, width, height] = [2.7, 100, 18];
    const x = Charts.scale(col.low, col.high, inset, width - inset);
    for (const [name, value] of Object.entries({ class: "density", viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", "aria-hidden": "true" })) svg.setAttribute(name, value);
    const top = Math.max(...counts) || 1;
    counts.forEach((count, k) => {
      if (!count) return;
      const h = height * Math.sqrt(count / top);
      Charts.draw(svg, "rect", { x: x(edges[k]), y: height - h, width: Math.max(0.4, x(edges[k + 1]) - x(edges[k]) - 0.4), height: h });
    });
    return svg;
  }

  function syncControl(i) {
    const found = controls.get(i);
    if (!found) return;
    const value = state.values[i];
    if (found.select) {
      found.select.value = String(value);
      return;
    }
    const col = columns[i];
    const gone = Number.isNaN(value);
    if (found.missing) found.missing.checked = gone;
    found.slider.disabled = found.number.disabled = gone;
    if (gone) {
      found.number.value = "";
      return;
    }
    if (found.slider.valueAsNumber !== value) found.slider.value = String(value);
    found.slider.setAttribute("aria-valuetext", `${format(value)}${unitOf(col)}`);
    found.number.value = String(Number(value.toFixed(digitsFor(col))));
    const outside = value < col.low || value > col.high;
    found.held.hidden = !outside;
    if (outside) found.held.textContent = col.clip ? `Outside the training range: counts as ${format(value < col.low ? col.low : col.high)}.` : "Outside the training range.";
  }

  // ---- Curves ---------------------------------------------------------------------------------------------------------

  const figures = new Map();

  function buildFigure(i) {
    const col = columns[i];
    const slope = make("span", { class: "slope" });
    const host = make("div", { class: col.kind === "category" ? "tall" : null });
    const range = make("p", { class: "range" });
    const figure = make("figure", { class: col.kind === "category" ? "curve short" : "curve", "data-column": i }, make("figcaption", {}, make("span", { class: "name" }, ...named(col)), slope), host, range);
    figures.set(i, { figure, slope, host, range });
    return figure;
  }

  function renderCurve(i) {
    const spot = figures.get(i);
    const found = state.curves[i];
    if (!spot || !found) return;
    const col = columns[i];
    const range = rangeOf(found);
    const value = state.values[i];
    if (found.items) {
      Charts.categories(spot.host, { items: found.items, current: value, range, text: tick, label: `${shownName()} by ${col.name}`, onPick: (k) => set({ [i]: k }) });
      spot.range.replaceChildren();
      return;
    }
    const gone = Number.isNaN(value);
    const held = Math.min(Math.max(value, col.low), col.high);
    const drawn = Charts.curve(spot.host, {
      parts: joined(found.parts, 0.03 * (range[1] - range[0])), domain: [col.low, col.high], range, text: tick, counts: col.density?.edges.length ? col.density : null, low: found.low, high: found.high,
      point: gone ? null : { x: held, y: valueOf(state.answer) },
      label: `${shownName()} along ${col.name}: lowest ${show(found.low.y)} at ${format(found.low.x)}, highest ${show(found.high.y)} at ${format(found.high.x)}`,
    });
    follow(drawn.svg, (px) => set({ [i]: drawn.toValue(px) }));
    spot.range.replaceChildren(
      "min ", make("b", {}, show(found.low.y)), ` at ${format(found.low.x)} · max `, make("b", {}, show(found.high.y)), ` at ${format(found.high.x)}`,
    );
  }

  /** Parts of a curve without the jumps that are too small to see. */
  function joined(parts, visible) {
    const found = [];
    for (const part of parts) {
      const last = found[found.length - 1];
      if (last && Math.abs(part[0].y - last[last.length - 1].y) < visible) last.push(...part);
      else found.push([...part]);
    }
    return found;
  }

  /** A press on a chart, and dragging from there, reports where it is. The chart may be redrawn meanwhile. */
  function follow(svg, report) {
    svg.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      const box = svg.getBoundingClientRect();
      const at = (e) => report(e.clientX - box.left, e.clientY - box.top);
      const stop = () => {
        removeEventListener("pointermove", at);
        removeEventListener("pointerup", stop);
        removeEventListener("pointercancel", stop);
      };
      at(event);
      if (event.pointerType === "mouse") {
        event.preventDefault();
        addEventListener("pointermove", at);
        addEventListener("pointerup", stop);
        addEventListener("pointercancel", stop);
      }
    });
  }

  function renderSlopes() {
    const all = slopes();
    for (const [i, spot] of figures) {
      const text = slopeText(i, all[i]);
      spot.slope.textContent = text.includes(" per ") ? `slope ${text.split(" per ")[0]}` : text;
      spot.slope.title = text;
    }
    return all;
  }

  function slopeText(i, slope) {
    const col = columns[i];
    if (col.kind !== "numeric" || Number.isNaN(state.values[i])) return "";
    if (Number.isNaN(slope)) return "jumps here";
    const text = classes ? `${signed(100 * slope)} %-points` : signed(slope);
    return `${text} per ${col.unit ? col.unit : "unit"}`;
  }

  // ---- Reach ----------------------------------------------------------------------------------------------------------

  function renderReach() {
    const all = renderSlopes();
    const value = valueOf(state.answer);
    const order = used.filter((i) => state.curves[i]).sort((a, b) => spanOf(b) - spanOf(a)).slice(0, 15);
    const list = make("div", { class: "list" });
    $("reach-list").replaceChildren(list);
    for (const i of order) {
      const { low, high } = state.curves[i];
      const host = make("div");
      list.append(make("div", { class: "item", "data-column": i }, make("div", { class: "name" }, ...named(columns[i]), make("span", { class: "slope" }, slopeText(i, all[i]))), host));
      Charts.reach(host, { range: sharedRange(), low: low.y, high: high.y, value, text: (v) => (classes ? percent(v) : Math.abs(v) < 1e5 ? format(v, 3) : Charts.short(v)), label: `${columns[i].name}: from ${show(low.y)} to ${show(high.y)}` });
    }
  }

  const spanOf = (i) => state.curves[i].high.y - state.curves[i].low.y;

  // ---- What would it take ---------------------------------------------------------------------------------------------

  function wished() {
    const v = $("wish-value").valueAsNumber;
    return classes ? v / 100 : v;
  }

  /** For every column the value nearest to the present one that gives the wanted prediction, all else as it is. */
  function ways(wanted) {
    const found = [];
    const closest = [];
    for (const i of used) {
      const col = columns[i];
      const made = state.curves[i];
      if (!made) continue;
      const now = state.values[i];
      if (made.items) {
        const best = made.items.map((item, k) => [Math.abs(item.y - wanted), k]).sort((a, b) => a[0] - b[0])[0];
        closest.push({ i, x: best[1], y: made.items[best[1]].y, gap: best[0] });
        continue;
      }
      const xs = Ladder.solve(made.curve, col, wanted, rule, state.output, made.parts);
      const from = Number.isNaN(now) ? col.start : now;
      const width = col.high - col.low;
      if (xs.length) {
        const x = xs.reduce((a, b) => (Math.abs(b - from) < Math.abs(a - from) ? b : a));
        found.push({ i, x, size: Math.abs(x - from) / width, all: xs });
      } else {
        const near = Math.abs(made.low.y - wanted) < Math.abs(made.high.y - wanted) ? made.low : made.high;
        closest.push({ i, x: near.x, y: near.y, gap: Math.abs(near.y - wanted) });
      }
    }
    return { found: found.sort((a, b) => a.size - b.size), closest: closest.sort((a, b) => a.gap - b.gap) };
  }

  function valueText(i, x) {
    const col = columns[i];
    if (col.kind === "category") return x < 0 ? "none of them" : col.categories[x];
    return Number.isNaN(x) ? "missing" : format(x);
  }

  function renderWish() {
    const wanted = wished();
    const host = $("wish-list");
    if (!Number.isFinite(wanted)) {
      host.replaceChildren(make("p", { class: "empty" }, "Enter a value."));
      return;
    }
    const { found, closest } = ways(wanted);
    const body = make("tbody");
    for (const way of found.slice(0, 12)) {
      const col = columns[way.i];
      const row = make("tr", { "data-column": way.i, "data-x": String(way.x) },
        make("td", { class: "name" }, ...named(col)), make("td", { class: "n" }, valueText(way.i, state.values[way.i])),
        make("td", { class: "n" }, make("b", {}, format(way.x))),
        make("td", { class: "n" }, make("button", { type: "button", "aria-label": `Set ${col.name} to ${format(way.x)}`, onclick: () => set({ [way.i]: way.x }) }, "Set")));
      body.append(row);
    }
    const parts = [];
    if (found.length) {
      parts.push(make("div", { class: "scroll" }, make("table", {}, make("thead", {}, make("tr", {}, make("th", {}, "Change only"), make("th", { class: "n" }, "from"), make("th", { class: "n" }, "to"), make("th", { class: "n" }))), body)));
    } else parts.push(make("p", { class: "empty" }, `No feature alone reaches ${show(wanted)} from here.`));
    if (closest.length) {
      const best = closest.slice(0, 3).map((c) => `${plainName(columns[c.i])} (${show(c.y)} at ${valueText(c.i, c.x)})`).join(", ");
      parts.push(make("p", { class: "faint" }, `${found.length ? "Not enough alone" : "Closest"}: ${best}${closest.length > 3 ? ` and ${closest.length - 3} more` : ""}.`));
    }
    host.replaceChildren(...parts);
  }

  // ---- The map --------------------------------------------------------------------------------------------------------

  const NODES = rule.combine === "draws" ? 25 : data.posterior ? 33 : 49;

  function axisOf(i) {
    const col = columns[i];
    const title = plainName(col) + (col.unit ? ` (${col.unit})` : "");
    if (col.kind === "category") return { title, names: col.categories, nodes: col.categories.map((_, k) => k), lo: -0.5, hi: col.categories.length - 0.5 };
    return { title, nodes: Array.from({ length: NODES }, (_, k) => col.low + ((col.high - col.low) * k) / (NODES - 1)), lo: col.low, hi: col.high };
  }

  /** z with column i at a node of its axis. */
  function moved(z, i, node) {
    const col = columns[i];
    const found = Float64Array.from(z);
    if (col.kind === "category") col.categories.forEach((_, k) => (found[col.at + k] = k === node ? 1 : 0));
    else {
      found[col.at] = Ladder.forward(col, node);
      if (col.flag !== null) found[col.flag] = 0;
    }
    return found;
  }

  /** The shown quantity as a function of column i's value, all else as in z. */
  function along(z, i) {
    const col = columns[i];
    if (col.kind === "category") return (node) => valueOf(Ladder.predict(charted, rule, moved(z, i, node), false));
    const from = moved(z, i, col.low);
    const curve = Ladder.curve(charted, rule, from, col.at, state.output);
    return (x) => curve.value(Ladder.forward(col, x));
  }

  let mapTicket = 0;
  /** Draw the map, a few rows at a time; a newer call replaces one that is under way. */
  async function renderMap() {
    if (used.length < 2) return;
    const [i, j] = [Number($("pair-x").value), Number($("pair-y").value)];
    const ticket = ++mapTicket;
    const [xAxis, yAxis] = [axisOf(i), axisOf(j)];
    const rows = [];
    let until = performance.now() + 14;
    for (const node of yAxis.nodes) {
      if (performance.now() > until) {
        await new Promise(requestAnimationFrame);
        if (ticket !== mapTicket) return;
        until = performance.now() + 14;
      }
      const f = along(moved(state.z, j, node), i);
      rows.push({ f, values: xAxis.nodes.map(f) });
    }
    drawMap(i, j, xAxis, yAxis, rows);
  }

  function drawMap(i, j, xAxis, yAxis, rows) {
    const values = rows.map((row) => row.values);
    const flat = values.flat();
    let range = [Math.min(...flat), Math.max(...flat)];
    if (!(range[1] - range[0] > 1e-12)) range = [range[0] - 0.5, range[1] + 0.5];
    const levels = Charts.ticks(range[0], range[1], 8);
    const numeric = !xAxis.names && !yAxis.names;
    const value = (k, axis) => (axis.names ? k : Math.min(Math.max(k, axis.lo), axis.hi));
    const at = (k) => (Number.isNaN(state.values[k]) ? columns[k].start : state.values[k]);
    const points = numeric ? data.rows.filter((row) => row[i] !== null && row[j] !== null).map((row) => [value(row[i], xAxis), value(row[j], yAxis)]) : [];
    const lines = numeric ? contours(i, j, xAxis.nodes, yAxis.nodes, rows, levels) : [];
    state.map = { i, j, levels, lines };
    const drawn = Charts.heat($("pair-map"), {
      values, xAxis, yAxis, range, levels, points, contours: lines, text: tick, current: [value(at(i), xAxis), value(at(j), yAxis)],
      label: `${shownName()} over ${columns[i].name} and ${columns[j].name}, from ${show(range[0])} to ${show(range[1])}`,
    });
    const snap = (axis, v) => (axis.names ? Math.min(Math.max(Math.round(v), 0), axis.names.length - 1) : v);
    follow(drawn.svg, (px, py) => {
      const [x, y] = drawn.toValues(px, py);
      set({ [i]: snap(xAxis, x), [j]: snap(yAxis, y) });
    });
  }

  /**
   * Contour lines by marching squares. Where a line crosses a side of a cell is not interpolated: along the side the
   * model is a known function of one variable, and the crossing is its zero.
   */
  function contours(i, j, xs, ys, rows, levels) {
    const found = [];
    const upward = xs.map(() => null);
    const f = (c) => (upward[c] ??= along(moved(state.z, i, xs[c]), j));
    for (const level of levels) {
      const across = new Map();
      const up = new Map();
      // Of the side of a cell; a mean of probabilities is dear, and this is still far below a pixel.
      const tolerance = rule.combine === "draws" ? 1e-3 : 1e-6;
      const onRow = (r, c) => {
        const key = r * xs.length + c;
        if (!across.has(key)) across.set(key, Ladder.falsePosition((x) => rows[r].f(x) - level, xs[c], xs[c + 1], tolerance * (xs[c + 1] - xs[c])));
        return [across.get(key), ys[r]];
      };
      const onColumn = (r, c) => {
        const key = r * xs.length + c;
        if (!up.has(key)) up.set(key, Ladder.falsePosition((y) => f(c)(y) - level, ys[r], ys[r + 1], tolerance * (ys[r + 1] - ys[r])));
        return [xs[c], up.get(key)];
      };
      for (let r = 0; r + 1 < ys.length; r++) {
        for (let c = 0; c + 1 < xs.length; c++) {
          const [a, b] = [rows[r].values[c] > level, rows[r].values[c + 1] > level];
          const [d, e] = [rows[r + 1].values[c] > level, rows[r + 1].values[c + 1] > level];
          const cut = [];
          if (a !== b) cut.push(onRow(r, c));
          if (b !== e) cut.push(onColumn(r, c + 1));
          if (d !== e) cut.push(onRow(r + 1, c));
          if (a !== d) cut.push(onColumn(r, c));
          if (cut.length === 2) found.push([...cut[0], ...cut[1]]);
          else if (cut.length === 4) {
            // A saddle: the middle of the cell says which corners belong together.
            const middle = rows[r].f((xs[c] + xs[c + 1]) / 2) > level;
            const pairs = middle === a ? [[0, 1], [2, 3]] : [[3, 0], [1, 2]];
            for (const [p, q] of pairs) found.push([...cut[p], ...cut[q]]);
          }
        }
      }
    }
    return found;
  }

  // ---- What does not change ---------------------------------------------------------------------------------------------

  function bar(parts, value, top, onclick = null) {
    const meter = make("span");
    meter.style.width = `${(100 * value) / (top || 1)}%`;
    const inside = [make("span", { class: "name" }, ...parts), make("div", { class: "meter" }, meter), make("span", { class: "number" }, format(value, 3))];
    return onclick ? make("button", { type: "button", class: "item plain", onclick }, ...inside) : make("div", { class: "item plain" }, ...inside);
  }

  function renderStrength() {
    const { columns: single, pairs, over } = data.strengths;
    const what = classes ? "of the score" : "of the prediction";
    $("strength-lead").textContent = `Typical change ${what} for one standard deviation of a feature, and how much two features change each other's effect. Exact derivatives, over ${over}.`;
    $("strength-columns").replaceChildren(...single.slice(0, 10).map(([i, v]) => bar(named(columns[i]), v, single[0][1])));
    $("strength-pair-part").hidden = pairs.length === 0;
    $("strength-pairs").replaceChildren(...pairs.map(([i, j, v]) => bar([`${plainName(columns[i])} × ${plainName(columns[j])}`], v, pairs[0][2], () => {
      $("pair-x").value = String(i);
      $("pair-y").value = String(j);
      renderMap();
      $("pair").scrollIntoView();
    })));
  }

  function cell(title, note, fill) {
    const host = make("div");
    $("quality-grid").append(make("div", {}, make("p", { class: "chart-title" }, title), make("p", { class: "chart-note" }, note), host));
    fill(host);
  }

  function renderQuality() {
    const any = data.quality.length || data.calibration || data.order_path.length > 1 || data.card.scores.length;
    $("quality").hidden = !any;
    if (!any) return;
    $("quality-grid").replaceChildren();
    $("quality-rows").replaceChildren(...(data.quality.length > 1 ? data.quality.map((q, k) => make("button", { type: "button", "aria-pressed": String(k === state.quality), onclick: () => {
      state.quality = k;
      renderQuality();
    } }, q.label)) : []));
    renderScores();
    const rows = data.quality[state.quality];
    if (rows && !classes) {
      const k = state.output;
      const pairs = rows.predicted[k].map((p, r) => [p, rows.observed[k][r]]);
      const r2 = rows.r2[k] === null ? "" : `, R² ${format(rows.r2[k], 3)}`;
      cell("Predicted and observed", `${format(rows.rows, 9)} rows (${rows.label}): RMSE ${format(rows.rmse[k])}${r2}`, (host) => Charts.scatter(host, { points: pairs, xLabel: "predicted", yLabel: "observed", ideal: "diagonal", square: true, label: "Observed against predicted values" }));
      cell("Residuals", "observed − predicted, against predicted", (host) => Charts.scatter(host, { points: pairs.map(([p, o]) => [p, o - p]), xLabel: "predicted", yLabel: "residual", ideal: "zero", square: true, label: "Residuals against predicted values" }));
      cell("Spread of residuals", "observed − predicted", (host) => Charts.histogram(host, { values: pairs.map(([p, o]) => o - p), xLabel: "residual", label: "Histogram of residuals" }));
    }
    if (rows && classes) {
      cell("Predicted and actual classes", `${format(rows.rows, 9)} rows (${rows.label}): ${percent(rows.error)} wrong`, (host) => confusion(host, rows.confusion));
    }
    const calibration = data.calibration;
    if (calibration) {
      const two = data.outputs.length === 2;
      const note = calibration.kind === "intervals" ? "share of targets inside intervals of each level" : two ? `how often ${data.outputs[1]} is there, by its probability` : "how often the likeliest class is right, by its probability";
      cell("Calibration", `${note} (${calibration.label})`, (host) => Charts.scatter(host, { points: calibration.points, xLabel: "stated", yLabel: "actual", ideal: "diagonal", domain: [0, 1], join: true, square: true, label: "Stated against actual probabilities" }));
    }
    if (data.order_path.length > 1) {
      cell("Order", "held-out error of each order that was tried", (host) => Charts.scatter(host, { points: data.order_path, xLabel: "order", yLabel: "error", join: true, label: "Held-out error against order" }));
    }
  }

  const SCORE_NAMES = { rmse: "RMSE", r2: "R²", error: "error", log_loss: "log loss", seconds: "seconds" };

  function renderScores() {
    const scores = data.card.scores;
    if (!scores.length) return;
    const keys = [...new Set(scores.flatMap((s) => Object.keys(s)))].filter((k) => k !== "model" && scores.some((s) => typeof s[k] === "number"));
    const own = scores[0].model;
    const head = make("tr", {}, make("th", {}, "Model, on held-out rows"), ...keys.map((k) => make("th", { class: "n" }, SCORE_NAMES[k] ?? k)));
    const body = scores.map((s) => make("tr", { class: s.model === own ? "own" : null }, make("td", { class: "name" }, String(s.model)), ...keys.map((k) => make("td", { class: "n" }, typeof s[k] === "number" ? format(s[k], k === "seconds" ? 2 : 4) : "–"))));
    $("scores").replaceChildren(make("div", { class: "scroll" }, make("table", {}, make("thead", {}, head), make("tbody", {}, ...body))));
  }

  function confusion(host, table) {
    const names = data.outputs;
    const top = Math.max(...table.flat()) || 1;
    const step = Math.max(16, Math.min(44, Math.floor((Math.max(200, host.clientWidth) - 90) / table.length)));
    const { svg } = Charts.canvas(host, 44 + step * table.length, "Predicted against actual classes");
    const cut = (name) => (name.length > 12 ? `${name.slice(0, 11)}…` : name);
    Charts.draw(svg, "text", { x: 86, y: 10 }, "predicted");
    table.forEach((row, r) => {
      Charts.draw(svg, "text", { x: 80, y: 30 + step * r + step / 2, "text-anchor": "end" }, cut(names[r]));
      row.forEach((count, c) => {
        Charts.draw(svg, "rect", { class: "bar", x: 86 + step * c, y: 18 + step * r, width: step - 2, height: step - 2, rx: 4, "fill-opacity": 0.08 + 0.85 * (count / top) });
        if (step >= 26) Charts.draw(svg, "text", { class: "strong", x: 85 + step * c + step / 2, y: 22 + step * r + step / 2, "text-anchor": "middle" }, format(count, 9));
        if (r === table.length - 1 && step >= 36) Charts.draw(svg, "text", { x: 85 + step * c + step / 2, y: 32 + step * table.length, "text-anchor": "middle" }, cut(names[c]).slice(0, 7));
      });
    });
  }

  function renderFormula() {
    const found = data.formula[classes && model.outputs === 1 ? 0 : state.output];
    $("formula").hidden = !found;
    if (!found) return;
    const inside = found.own_units ? "in the columns' own units" : "in transformed features: each has mean 0 and standard deviation 1";
    const left = found.total - found.terms.length;
    const whole = found.rest === 0;
    const rest = whole ? "" : ` These are its largest terms; the other ${format(left, 9)} together stay below ${format(found.rest, 3)} in size while every feature is within one standard deviation.`;
    const link = classes ? " It is the score; probabilities follow from it." : "";
    $("formula-lead").textContent = `A polynomial of order ${data.card.order} with ${format(found.total, 9)} terms, ${inside}.${rest}${link}`;
    const nodes = [make("span", { class: "term" }, make("i", {}, classes ? "score" : targetName), whole ? " = " : " ≈ ")];
    found.terms.forEach(([value, factors], k) => {
      const sign = value < 0 ? (k ? " − " : "−") : k ? " + " : "";
      const term = make("span", { class: "term" }, sign, format(Math.abs(value), 4));
      factors.forEach(([name, power]) => {
        term.append(" ", make("i", {}, name));
        if (power > 1) term.append(make("sup", {}, String(power)));
      });
      nodes.push(term, " ");
    });
    if (!whole) nodes.push(" + …");
    $("formula-terms").replaceChildren(...nodes);
  }

  function facts(host, list) {
    host.replaceChildren(...list.filter(([, v]) => v !== null && v !== undefined && v !== "").flatMap(([k, v]) => [make("dt", {}, k), make("dd", {}, String(v))]));
  }

  function renderCard() {
    const card = data.card;
    const ladders = card.ladders > 1 ? `${format(card.ladders, 9)} ladders of ` : "";
    facts($("card-facts"), [
      ["Model", `${data.estimator}, order ${card.order}`],
      ["Weights", `${ladders}${format(card.weights, 9)} weights, widths ${card.widths.join(", ") || "none"}`],
      ["Solver", card.solver],
      ["Predicts", data.target + (classes ? `: ${data.outputs.length} classes` : "")],
      ["Rows", card.rows === null ? null : format(card.rows, 9)],
      ["Data", card.source],
      ["Seed", card.seed],
      ["Made", card.created],
      ["Versions", Object.entries(card.versions).map(([k, v]) => `${k} ${v}`).join(", ")],
    ]);
    facts($("card-settings"), Object.entries(card.settings).map(([k, v]) => [k, v === null ? "None" : String(v)]));
    const rows = columns.map((c) => make("tr", {}, make("td", { class: "name" }, ...named(c)),
      make("td", {}, c.kind === "numeric" ? "number" : c.kind === "category" ? `${c.categories.length} categories` : "constant, not used"),
      make("td", { class: "n" }, c.kind === "numeric" ? `${format(c.low)} to ${format(c.high)}` : ""),
      make("td", { class: "n" }, c.kind === "numeric" ? format(c.start) : c.kind === "category" ? c.categories[c.start] : "")));
    $("card-columns").replaceChildren(make("table", {}, make("thead", {}, make("tr", {}, make("th", {}, "Column"), make("th", {}, "Kind"), make("th", { class: "n" }, "Training range"), make("th", { class: "n" }, "Typical"))), make("tbody", {}, ...rows)));
  }

  function renderHead() {
    $("title").textContent = targetName;
    const rows = data.card.rows ? `, fitted to ${format(data.card.rows, 9)} rows` : "";
    const quality = data.quality[0];
    const score = !quality ? "" : classes ? ` ${percent(1 - quality.error)} right on ${quality.label}.` : ` RMSE ${quality.rmse.map((v) => format(v, 3)).join(", ")} on ${quality.label}.`;
    const many = data.posterior ? `${format(model.draws, 9)} posterior draws of a` : "A";
    $("summary").textContent = `${many} polynomial of order ${data.card.order} in ${used.length} feature${used.length > 1 ? "s" : ""}${rows}.${score}`;
    for (const section of document.querySelectorAll("main section[data-title]")) {
      if (!section.hidden) $("sections").append(make("a", { href: `#${section.id}` }, section.dataset.title));
    }
    const exact = rule.combine === "mean" && !(classes && model.outputs > 1);
    $("reach-lead").textContent = `How far each feature alone can take it, and ${rule.combine === "mean" ? "its exact slope here" : rule.combine === "median" ? "the middle of the draws' exact slopes here" : "its slope here"}.`;
    const band = data.band.kind ? ` with its ${data.band.level} % band` : "";
    $("curves-lead").textContent = `The prediction along each feature${band}, everything else as in your row. Triangles mark the lowest and the highest point, gray bars the data. Press on a chart to go there.`;
    const notes = [];
    if (exact) notes.push("Curves are evaluated from their exact polynomials; extremes are roots of the derivative.");
    else notes.push(`${rule.combine === "median" ? "The median of many polynomials" : rule.combine === "draws" ? "A mean of probabilities" : "A probability among several"} is not a polynomial: extremes are searched on a fine grid and refined.`);
    if (charted !== model) notes.push(`Charts take ${charted.draws} of the ${model.draws} draws, the number above all of them.`);
    const shape = columns.find((c) => c.kind === "numeric")?.shape;
    if (shape === "quantile") notes.push("Features are read as quantiles: a curve can jump at a value that many rows share.");
    if (shape === "yeo-johnson") notes.push("Features pass a Yeo-Johnson transform, so a curve is a polynomial of the transformed feature.");
    $("curves-note").textContent = notes.join(" ");
  }

  // ---- Putting it together ----------------------------------------------------------------------------------------------

  function showMore(button, list, reveal, what) {
    const left = list.length;
    button.hidden = left === 0;
    button.textContent = `Show ${left} more ${what}`;
    button.addEventListener("click", () => {
      reveal(list);
      button.hidden = true;
    });
  }

  function changeOutput() {
    for (const i of used) state.dirty.add(`curve ${i}`);
    startWish();
    renderAnswer();
    renderQuality();
    renderFormula();
    state.mapDirty = true;
    schedule();
  }

  function startWish() {
    $("wish-label").textContent = classes ? `To make ${shownName()} (in %)` : `To reach ${shownName()} of`;
    const value = valueOf(state.answer);
    let wanted;
    if (classes) wanted = value < 0.5 ? 75 : 25;
    else {
      const [low, high] = data.range[state.output];
      const aim = value < (low + high) / 2 ? value + 0.2 * (high - low) : value - 0.2 * (high - low);
      wanted = Number(aim.toPrecision(2));
    }
    $("wish-value").value = String(wanted);
  }

  function start() {
    compute();
    if (classes && data.outputs.length > 2) state.output = state.answer.probabilities.indexOf(Math.max(...state.answer.probabilities));
    const choices = data.outputs.length > 1;
    $("output-field").hidden = !choices;
    data.outputs.forEach((name, k) => $("output").append(make("option", { value: k }, classes ? `P(${name})` : name)));
    $("output").value = String(state.output);
    $("output").addEventListener("change", () => {
      state.output = Number($("output").value);
      changeOutput();
    });
    const firstControls = used.length <= FIRST + 18 ? used : ranked.slice(0, FIRST + 12);
    $("controls").replaceChildren(...firstControls.map(buildControl));
    const otherControls = used.filter((i) => !firstControls.includes(i));
    showMore($("more-controls"), otherControls, (list) => {
      $("controls").append(...list.map(buildControl));
      list.forEach(syncControl);
    }, "features");
    const firstCurves = used.filter((i) => state.shown.has(i)).sort((a, b) => ranked.indexOf(a) - ranked.indexOf(b));
    $("curve-grid").replaceChildren(...firstCurves.map(buildFigure));
    const otherCurves = ranked.filter((i) => !state.shown.has(i));
    showMore($("more-curves"), otherCurves, (list) => {
      for (const i of list) {
        state.shown.add(i);
        $("curve-grid").append(buildFigure(i));
        renderCurve(i);
      }
      renderSlopes();
    }, "curves");
    for (const [id, same] of [["same-scale", true], ["own-scale", false]]) {
      $(id).addEventListener("click", () => {
        state.sameScale = same;
        $("same-scale").setAttribute("aria-pressed", String(same));
        $("own-scale").setAttribute("aria-pressed", String(!same));
        state.shown.forEach(renderCurve);
      });
    }
    $("pair").hidden = used.length < 2;
    if (used.length >= 2) {
      const first = data.strengths.pairs.find(([i, j]) => columns[i].kind === "numeric" && columns[j].kind === "numeric") ?? data.strengths.pairs[0];
      for (const [id, pick] of [["pair-x", first[0]], ["pair-y", first[1]]]) {
        used.forEach((i) => $(id).append(make("option", { value: i }, plainName(columns[i]))));
        $(id).value = String(pick);
        $(id).addEventListener("change", renderMap);
      }
    }
    $("reset").addEventListener("click", () => set(Object.fromEntries(used.map((i) => [i, columns[i].start]))));
    $("random").hidden = data.rows.length === 0;
    $("random").addEventListener("click", () => {
      const row = data.rows[Math.floor(Math.random() * data.rows.length)];
      set(Object.fromEntries(used.map((i) => [i, row[i] === null ? (columns[i].fill === null ? columns[i].start : columns[i].flag === null ? columns[i].fill : NaN) : row[i]])));
    });
    $("wish-value").addEventListener("input", renderWish);
    renderQuality();
    renderFormula();
    renderStrength();
    renderCard();
    renderHead();
    used.forEach(syncControl);
    startWish();
    renderAnswer();
    for (const i of firstCurves) state.dirty.add(`curve ${i}`);
    for (const i of otherCurves) state.dirty.add(`curve ${i}`);
    schedule();
    let width = innerWidth;
    addEventListener("resize", () => {
      if (innerWidth === width) return;
      width = innerWidth;
      state.shown.forEach(renderCurve);
      renderAnswer();
      renderReach();
      renderMap();
      renderQuality();
    });
    document.body.dataset.ready = String(Math.round(performance.now()));
  }

  start();
  // For tests and for the curious: what the page holds, and a promise that its charts are up to date.
  globalThis.report = { data, columns, model, set, values: () => [...state.values], answer: () => state.answer, curve: (i) => state.curves[i], map: () => state.map, ways, slopes, settled: () => settled };
})();
