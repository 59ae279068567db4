/* Cells of a table, as they are written, to the numbers and categories that a model reads. */

function refuse(col, wanted, given) {
  const shown = typeof given === "string" ? JSON.stringify(given) : String(given);
  throw new TypeError(`Column ${JSON.stringify(col.name)} must hold ${wanted}; got ${shown}.`);
}

/** A text without space around it; null for a word that stands for nothing. */
function stripped(text, { spaces, missing }) {
  let [from, to] = [0, text.length];
  while (from < to && spaces.includes(text[from])) from++;
  while (to > from && spaces.includes(text[to - 1])) to--;
  const found = text.slice(from, to);
  return missing.includes(found.toLowerCase()) ? null : found;
}

const isGone = (given) => given === null || given === undefined || Number.isNaN(given);
const whole = (pattern) => new RegExp(`^(?:${pattern})$`);

/** A function from text to a number without marks or units; null where it is none. */
function plainReader({ plain }) {
  const pattern = whole(plain);
  return (text) => {
    const hyphened = text.replace("\u2212", "-");
    return pattern.test(hyphened) ? Number(hyphened) : null;
  };
}

/** The same for numbers with marks between thousands, currencies, units or letters of magnitude. */
function styledReader({ pattern, digits, mark, decimal, prefixes, scales }) {
  const [all, figures] = [whole(pattern), whole(digits)];
  return (text) => {
    const found = all.exec(text);
    if (!found) return null;
    const [opened, sign, prefix, inner, given, power, ending, closed] = found.slice(1).map((part) => part ?? "");
    const known = figures.test(given) && Object.hasOwn(scales, ending) && prefixes.includes(prefix);
    if (!known || (opened === "(") !== (closed === ")")) return null;
    const bare = mark ? given.replace(new RegExp(mark, "g"), "") : given;
    const value = Number(bare.replace(decimal, ".") + power);
    const [factor, shift] = scales[ending];
    const minus = ["-", "\u2212"];
    return (opened || minus.includes(sign) || minus.includes(inner) ? -value : value) * factor + shift;
  };
}

const MONTHS = "january february march april may june july august september october november december".split(" ");

/** The hour of a day from that of a clock, 1 to 12, and am or pm; null if there is none. */
function hourOf({ H, I, p }) {
  if (p === undefined) return Number(H ?? 0);
  return I < 1 || I > 12 ? null : (I % 12) + (p.toLowerCase() === "pm" ? 12 : 0);
}

function monthOf({ m, b, B }) {
  const name = (b ?? B)?.toLowerCase();
  if (name === undefined) return Number(m ?? 1) - 1;
  return MONTHS.findIndex((month) => name === month || name === month.slice(0, 3));
}

/** Days since 1970 from the parts of a date, by the letters of strftime; null if there is no such day. */
function daysOf(part, { first, perMicrosecond }) {
  const year = part.y === undefined ? Number(part.Y ?? 1970) : Number(part.y) + (part.y >= "70" ? 1900 : 2000);
  const parts = [year, monthOf(part), Number(part.d ?? 1), hourOf(part), Number(part.M ?? 0), Number(part.S ?? 0)];
  const milliseconds = Date.UTC(...parts);
  const day = new Date(milliseconds);
  const back = [day.getUTCFullYear(), day.getUTCMonth(), day.getUTCDate(), day.getUTCHours(), day.getUTCMinutes()];
  const exists = back.every((value, i) => value === parts[i]) && day.getUTCSeconds() === parts[5] && year >= first;
  return exists ? (milliseconds * 1000 + Number((part.f ?? "").padEnd(6, "0").slice(0, 6))) * perMicrosecond : null;
}

/** The same for dates, in one of some formats, as days since 1970. */
function dateReader(formats, reading) {
  const known = formats.map(({ pattern, fields }) => ({ pattern: whole(pattern), fields }));
  const zone = new RegExp(reading.zone);
  return (text) => {
    const local = text.replace(zone, "$1");
    for (const { pattern, fields } of known) {
      const found = pattern.exec(local);
      if (found) return daysOf(Object.fromEntries([...fields].map((letter, i) => [letter, found[i + 1]])), reading);
    }
    return null;
  };
}

/** A function from a cell to a number, NaN where it is missing. */
function numberReader(col, reading) {
  const { formats, style, times, missing } = col.cells;
  const readNumber = style ? styledReader(style) : plainReader(reading);
  const read = formats ? dateReader(formats, reading) : readNumber;
  const wanted = formats ? (times && "times") || "dates" : "finite numbers";
  const numberOf = (given) => {
    if (typeof given === "string") return read(given);
    if (formats && !times && given instanceof Date) return given.getTime() * 1000 * reading.perMicrosecond;
    return ["number", "bigint", "boolean"].includes(typeof given) ? Number(given) : null;
  };
  return (given) => {
    const text = typeof given === "string" ? stripped(given, reading) : given;
    if (isGone(text)) return Number.NaN;
    const value = numberOf(text);
    if (!Number.isFinite(value)) refuse(col, wanted, given);
    return value === missing ? Number.NaN : value;
  };
}

/** A function from a cell to the position of its category, -1 for none of them. */
function textReader(col, reading) {
  const { odd, words, spelled } = col.cells;
  return (given) => {
    if (isGone(given)) return col.categories.indexOf(null);
    if (odd.includes(given)) return col.categories.indexOf(given);
    const text = stripped(String(given), reading);
    if (text === null) return col.categories.indexOf(null);
    if (!words) return col.categories.indexOf(Object.hasOwn(spelled, text) ? spelled[text] : text);
    const word = text.toLowerCase();
    return Object.hasOwn(words, word) ? col.categories.indexOf(words[word]) : refuse(col, "yes or no", given);
  };
}

/** A function from a cell of a column to what `transform` takes. */
export function cellReader(col, reading) {
  // A column that never changes and never has gaps is not looked at.
  if (col.kind === "constant" && (col.flag ?? null) === null) return () => Number.NaN;
  return col.kind === "category" ? textReader(col, reading) : numberReader(col, reading);
}
