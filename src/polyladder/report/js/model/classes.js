/* Probabilities of classes: from scores (softmax, one versus rest) or from the draws of a posterior (probit). */
import { lookup, normal, tableOf } from "./distributions.js";

/**
 * Probability of every class from scores; one score is the log-odds of the second of two classes. One versus rest:
 * the probabilities of separate models, divided by their sum (in logarithms, as all may be small).
 */
export function probabilities(scores, link) {
  let all = scores.length === 1 ? [0, scores[0]] : Array.from(scores);
  if (link === "one-versus-rest") {
    all = all.map((s) => (s < 0 ? s - Math.log1p(Math.exp(s)) : -Math.log1p(Math.exp(-s))));
  }
  const top = Math.max(...all);
  const powers = all.map((s) => Math.exp(s - top));
  const sum = powers.reduce((a, b) => a + b, 0);
  return powers.map((p) => p / sum);
}

/** Probabilities of the classes for one draw's output f plus standard normal noise: of a negative, a positive sum. */
function probitOfTwo(output, surest, cdf) {
  const f = Math.min(Math.max(output, -surest), surest);
  return [cdf(-f), cdf(f)];
}

/** The same for several outputs: of being the largest sum, by the quadrature that the estimator uses. */
function probitOfSeveral(outputs, { nodes, weights, surest }, cdf) {
  const top = Math.max(...outputs);
  const f = outputs.map((v) => Math.max(v - top, -surest));
  const p = f.map((_, j) => largest(f, j, nodes, weights, cdf));
  const total = p.reduce((a, b) => a + b, 0);
  return p.map((v) => v / total);
}

/** The probability that f_j plus noise is the largest. Plain loops: charts come here some hundred thousand times. */
function largest(f, j, nodes, weights, cdf) {
  let sum = 0;
  for (let n = 0; n < nodes.length; n++) {
    let product = weights[n];
    for (let c = 0; c < f.length; c++) if (c !== j) product *= cdf(nodes[n] + f[j] - f[c]);
    sum += product;
  }
  return sum;
}

const coarseNormal = (x) => lookup(tableOf(Number.POSITIVE_INFINITY), x);

/** Mean probability of every class over all draws, none of which is surer than the rule's `surest`. */
export function probit({ draws, outputs }, rule, raw, fine) {
  const cdf = fine ? normal : coarseNormal;
  const sum = new Array(Math.max(2, outputs)).fill(0);
  for (let s = 0; s < draws; s++) {
    const each =
      outputs === 1
        ? probitOfTwo(raw[s], rule.surest, cdf)
        : probitOfSeveral(raw.subarray(s * outputs, (s + 1) * outputs), rule, cdf);
    for (let j = 0; j < sum.length; j++) sum[j] += each[j];
  }
  return sum.map((p) => p / draws);
}
