/* Values as the cells of their column are written: money, percent, dates. `written` is null for plain numbers. */
import { ticks } from "./axes.js";
import { format, short } from "./numbers.js";

const DAY = 864e5;
const MONTHS = "January February March April May June July August September October November December".split(" ");
const MAGNITUDES = { k: 1e3, K: 1e3, m: 1e6, M: 1e6, mn: 1e6, Mio: 1e6, b: 1e9, B: 1e9, bn: 1e9, T: 1e12 };

export const isDate = (written) => written?.kind === "date";

/** Whether a date has a time of day. */
export const hasTime = (written) => /%[HI]/.test(written.date_format ?? "");

/** Whether it is a time of day alone. */
export const isTime = (written) => isDate(written) && hasTime(written) && !/%[YymdbB]/.test(written.date_format);

/** A value of a column, to so many digits; beside an axis in few characters. */
export function write(written, x, { digits = 4, brief = false } = {}) {
  if (Number.isNaN(x)) return "missing";
  if (isDate(written)) return writeDate(written.date_format, x);
  const plain = brief ? short : (v) => format(v, digits);
  return written?.style ? writeStyled(written.style, x, plain) : plain(x);
}

/** Days since 1970 in a format of strftime. */
function writeDate(pattern, days) {
  const time = new Date(Math.round(days * DAY));
  const two = (n) => String(n).padStart(2, "0");
  const hour = time.getUTCHours();
  const parts = {
    "%Y": String(time.getUTCFullYear()),
    "%y": two(time.getUTCFullYear() % 100),
    "%m": two(time.getUTCMonth() + 1),
    "%d": two(time.getUTCDate()),
    "%B": MONTHS[time.getUTCMonth()],
    "%b": MONTHS[time.getUTCMonth()]?.slice(0, 3),
    "%H": two(hour),
    "%I": two(hour % 12 || 12),
    "%p": hour < 12 ? "AM" : "PM",
    "%M": two(time.getUTCMinutes()),
    "%S": two(time.getUTCSeconds()),
    "%.f": "",
  };
  return (pattern ?? "%Y-%m-%d").replaceAll(/%\.f|%[A-Za-z]/g, (code) => parts[code] ?? code);
}

function writeStyled(style, x, plain) {
  const letter = letterOf(style, x);
  const size = plain(Math.abs(x) / (MAGNITUDES[letter] ?? 1));
  const marks = { ",": style.thousands ?? "", ".": style.decimal ?? "." };
  const number = size.replaceAll(/[,.]/g, (mark) => marks[mark]);
  const text = `${style.prefix ?? ""}${number}${letter}${style.suffix ?? ""}`;
  if (x >= 0) return text;
  return style.brackets ? `(${text})` : `−${text}`;
}

/** The letter of the magnitude: that of every cell, or the one that suits the number. */
function letterOf({ letter = "" }, x) {
  if (letter !== "*") return letter;
  return ["B", "M", "k"].find((name) => Math.abs(x) >= MAGNITUDES[name]) ?? "";
}

/** The number that a text in a column's style means; NaN if it is none. */
export function readText(written, text) {
  const { prefix = "", suffix = "", decimal = ".", thousands = "" } = written?.style ?? {};
  const bare = text.trim().replaceAll("−", "-").replace(prefix.trim(), "").replace(suffix.trim(), "");
  const found = bare.match(/^(\()?\s*(-)?\s*([\d.,'\s]+)\s*([A-Za-z]*)\s*\)?$/);
  if (!found) return Number.NaN;
  const digits = (thousands ? found[3].replaceAll(thousands, "") : found[3]).replaceAll(" ", "").replace(decimal, ".");
  const factor = found[4] ? (MAGNITUDES[found[4]] ?? Number.NaN) : 1;
  return (found[1] || found[2] ? -1 : 1) * Number(digits) * factor;
}

/** Round values of a column from lo to hi, about `count` of them: of dates the first days of years or months. */
export function ticksOf(written) {
  return isDate(written) ? dateTicks : ticks;
}

function dateTicks(lo, hi, count) {
  const years = (hi - lo) / 365.25;
  if (years > count / 2) return firstDays(lo, hi, 12 * Math.max(1, niceStep(years / count)));
  if (years * 12 > count / 2)
    return firstDays(lo, hi, [1, 2, 3, 4, 6, 12].find((m) => (years * 12) / m <= count) ?? 12);
  return ticks(lo, hi, count);
}

const niceStep = (rough) => [1, 2, 5, 10, 20, 25, 50, 100].find((s) => s >= rough * 0.7) ?? 100;

/** The first days of every so many months between two days. */
function firstDays(lo, hi, months) {
  const first = new Date(lo * DAY);
  const found = [];
  let month = Math.floor((first.getUTCFullYear() * 12 + first.getUTCMonth()) / months) * months;
  for (let day = -Infinity; day <= hi; month += months) {
    day = Date.UTC(Math.floor(month / 12), month % 12, 1) / DAY;
    if (day >= lo && day <= hi) found.push(day);
  }
  return found.length ? found : [lo];
}
