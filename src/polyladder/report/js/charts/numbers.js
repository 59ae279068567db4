/* Numbers as text. */

const minus = (text) => text.replaceAll("-", "−");

/** A number to this many significant digits, with thousands marked and never more decimals than they need. */
export function format(x, digits = 4) {
  if (x === null || x === undefined || Number.isNaN(x)) return "–";
  const size = Math.abs(x);
  if (size === 0) return "0";
  if (size < 1e-4 || size >= 1e12) return minus(x.toExponential(2)).replace("e+", "e");
  const whole = size >= 10 ** (digits - 1);
  return minus(x.toLocaleString("en-US", whole ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: digits }));
}

/** A whole number, never rounded. */
export const count = (n) => format(n, 9);

/** A number beside an axis: as `format`, millions as 1M. */
export function short(x) {
  if (Math.abs(x) < 1e5 || Math.abs(x) >= 1e15) return format(x);
  return minus(x.toLocaleString("en-US", { notation: "compact", maximumSignificantDigits: 3 }));
}

export function signed(x, digits = 3) {
  return (x > 0 ? "+" : "") + format(x, digits);
}

export const percent = (share) => `${format(100 * share, 3)} %`;

/** A name cut to at most this many characters. */
export function cut(name, length) {
  return name.length > length ? `${name.slice(0, length - 1)}…` : name;
}
