/*
 * Ladders over `inputs` transformed features, in units of the target: `draws` of them in all, in parts of one shape
 * each. Nothing in this folder touches an element of the page, so it also runs, and is tested, without one.
 */

/** The float64 numbers of a base64 text, little-endian as written. */
export function decode(text) {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return new Float64Array(bytes.buffer);
}

/** A model from its description: that of its parts, or of the only one. */
export function ladder({ parts, ...only }) {
  const made = (parts ?? [only]).map(part);
  const draws = made.reduce((sum, each) => sum + each.draws, 0);
  const order = Math.max(...made.map((each) => each.order));
  return { draws, inputs: made[0].inputs, outputs: made[0].outputs, order, parts: made };
}

/**
 * Ladders of one shape: where each block of weights starts within the numbers of one draw. Of a diagonal layer only the
 * diagonal is written, and of a layer with the gates of the one before it none.
 */
function part({ draws, inputs, hidden, outputs, weights, diagonal = [], repeated = [] }) {
  const layers = [];
  let at = 0;
  let width = inputs;
  hidden.forEach((k, l) => {
    const alone = diagonal[l] ?? false;
    const layer = { k, p: width, alone, W: at, b: at + (alone ? k : k * width) };
    const before = layers[l - 1];
    layer.V = repeated[l] ? before.V : layer.b + k;
    layer.c = repeated[l] ? before.c : layer.V + k * inputs;
    at = repeated[l] ? layer.b + k : layer.c + k;
    width = k;
    layers.push(layer);
  });
  const offset = at + outputs * width;
  const size = offset + outputs;
  const numbers = typeof weights === "string" ? decode(weights) : Float64Array.from(weights);
  if (numbers.length !== draws * size) {
    throw new Error(`weights must be ${draws * size} numbers; got ${numbers.length}.`);
  }
  const order = hidden.length + 1;
  return { draws, inputs, outputs, layers, width, order, readout: at, offset, size, weights: numbers };
}

/** The model with `count` of its draws, evenly picked, or with all if there are no more, or several shapes of them. */
export function thinned(model, count) {
  if (model.draws <= count || model.parts.length > 1) return model;
  const [{ size, weights: all, ...rest }] = model.parts;
  const weights = new Float64Array(count * size);
  for (let s = 0; s < count; s++) {
    const from = Math.floor(((s + 0.5) * model.draws) / count) * size;
    weights.set(all.subarray(from, from + size), s * size);
  }
  return { ...model, draws: count, parts: [{ ...rest, size, weights, draws: count }] };
}

/** Calls a function with every draw: its part, where its weights start, and its number. */
export function eachDraw(model, visit) {
  let number = 0;
  for (const shape of model.parts) for (let s = 0; s < shape.draws; s++) visit(shape, s * shape.size, number++);
}

/** The product of a vector and the row of a matrix that starts at `at`. */
function dot(w, at, x) {
  let sum = 0;
  for (let j = 0; j < x.length; j++) sum += w[at + j] * x[j];
  return sum;
}

/** Row i of a layer's W times h. */
function rung(w, { p, alone, W }, o, i, h) {
  return alone ? w[o + W + i] * h[i] : dot(w, o + W + i * p, h);
}

/** The gates V z + c of one layer in the draw whose weights start at `o`; without `c` those of a direction. */
function gates({ inputs: d, weights: w }, { k, V, c }, o, z, constant = true) {
  const found = new Float64Array(k);
  for (let i = 0; i < k; i++) found[i] = dot(w, o + V + i * d, z) + (constant ? w[o + c + i] : 0);
  return found;
}

/** W h of one layer, with b unless it is of a direction. */
function risen({ weights: w }, layer, o, h, constant = true) {
  const found = new Float64Array(layer.k);
  for (let i = 0; i < layer.k; i++) found[i] = rung(w, layer, o, i, h) + (constant ? w[o + layer.b + i] : 0);
  return found;
}

/** The factors [W h + b, V z + c] of every layer; gates that repeat those of the layer before are computed once. */
export function climb(shape, o, z) {
  const tape = [];
  let h = z;
  shape.layers.forEach((layer, l) => {
    const gate = layer.V === shape.layers[l - 1]?.V ? tape[l - 1][1] : gates(shape, layer, o, z);
    const u = risen(shape, layer, o, h);
    tape.push([u, gate]);
    h = u.map((v, i) => v * gate[i]);
  });
  return { tape, h };
}

/** Values at one point z, draw by draw and output by output: h <- (W h + b) * (V z + c), then R h + o. */
export function evaluate(model, z) {
  const m = model.outputs;
  const out = new Float64Array(model.draws * m);
  eachDraw(model, (shape, o, s) => {
    const { width, readout, offset, weights: w } = shape;
    const { h } = climb(shape, o, z);
    for (let i = 0; i < m; i++) out[s * m + i] = dot(w, o + readout + i * width, h) + w[o + offset + i];
  });
  return out;
}

/** Derivatives of one output with respect to every input at z, draw by draw: one sweep back through the layers. */
export function gradient(model, z, output) {
  const d = model.inputs;
  const out = new Float64Array(model.draws * d);
  eachDraw(model, (shape, o, s) => {
    descend(shape, o, climb(shape, o, z).tape, output, out.subarray(s * d, (s + 1) * d));
  });
  return out;
}

/**
 * Adds the derivatives of one output of one draw by all inputs to `found`; `visit` is called with the number of each
 * layer, from the last, and the derivatives by its values.
 */
export function descend(shape, o, tape, output, found, visit = () => {}) {
  const { layers, width, readout, weights: w } = shape;
  let back = w.slice(o + readout + output * width, o + readout + (output + 1) * width);
  let passed = new Float64Array(width);
  for (let l = layers.length - 1; l >= 0; l--) {
    const { k, V } = layers[l];
    if (passed.length !== k) passed = new Float64Array(k);
    visit(l, back);
    back = stepBack(shape, layers[l], o, tape[l], back, passed);
    if (V === layers[l - 1]?.V) continue;
    throughGates(shape, o + V, passed, found);
    passed.fill(0);
  }
  for (let j = 0; j < found.length; j++) found[j] += back[j];
}

/** From derivatives by a layer's values to those by the values before it; those by its gates are added to `passed`. */
function stepBack({ weights: w }, { k, p, alone, W }, o, [u, gate], back, passed) {
  const before = new Float64Array(p);
  for (let i = 0; i < k; i++) {
    const du = back[i] * gate[i];
    passed[i] += back[i] * u[i];
    if (alone) before[i] += du * w[o + W + i];
    else for (let j = 0; j < p; j++) before[j] += du * w[o + W + i * p + j];
  }
  return before;
}

/** Adds derivatives by gates, whose weights start at `at`, times those weights to `found`. */
function throughGates({ inputs: d, weights: w }, at, passed, found) {
  passed.forEach((v, i) => {
    for (let j = 0; j < d; j++) found[j] += v * w[at + i * d + j];
  });
}

/** Coefficients, ascending, of every draw and output as polynomials in t along the line at + t direction. */
export function line(model, at, direction) {
  const m = model.outputs;
  const n = model.order + 1;
  const out = new Float64Array(model.draws * m * n);
  eachDraw(model, (shape, o, s) => {
    const { layers, width, readout, offset, weights: w } = shape;
    // One row of coefficients for each power: row 0 is the point, row 1 the direction.
    let h = [at, direction];
    let gate = null;
    layers.forEach((layer, l) => {
      if (layer.V !== layers[l - 1]?.V) {
        gate = [gates(shape, layer, o, at), gates(shape, layer, o, direction, false)];
      }
      h = lineStep(shape, layer, o, h, gate);
    });
    for (let i = 0; i < m; i++) {
      const row = (s * m + i) * n;
      for (let j = 0; j < h.length; j++) out[row + j] = dot(w, o + readout + i * width, h[j]);
      out[row] += w[o + offset + i];
    }
  });
  return out;
}

/** One layer of a line: with u_j the coefficients of W h + b, it makes a_j = (V at + c) u_j + (V direction) u_(j-1). */
function lineStep(shape, layer, o, h, [constant, slope]) {
  const next = Array.from({ length: h.length + 1 }, () => new Float64Array(layer.k));
  h.forEach((coefficients, j) => {
    const u = risen(shape, layer, o, coefficients, j === 0);
    for (let i = 0; i < layer.k; i++) {
      next[j][i] += constant[i] * u[i];
      next[j + 1][i] += slope[i] * u[i];
    }
  });
  return next;
}
