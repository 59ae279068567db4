/* Taking things away: the row as CSV, a link to a row, charts as SVG and their numbers as CSV. */
import { make } from "../charts/elements.js";
import { write } from "../charts/written.js";
import { byId, columns, data, read } from "./content.js";
import { onSet, row, set } from "./row.js";

const quoted = (cell) => (/[",\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
const csv = (lines) => `${lines.map((cells) => cells.map((c) => quoted(String(c))).join(",")).join("\n")}\n`;

function cellOf(i) {
  const col = columns[i];
  const value = row.values[i];
  if (col.kind === "category") return value < 0 || col.categories[value] === "missing" ? "" : col.categories[value];
  if (Number.isNaN(value)) return "";
  return col.written?.kind === "date" ? write(col.written, value) : String(value);
}

/** The row with a header. */
export function rowAsCsv() {
  return csv([read.map((i) => columns[i].name), read.map(cellOf)]);
}

async function copyRow() {
  const text = rowAsCsv();
  try {
    await navigator.clipboard.writeText(text);
    say("Copied.");
  } catch {
    download("row.csv", "text/csv", text);
  }
}

function say(words) {
  byId("row-note").textContent = words;
}

function download(name, type, text) {
  const link = make("a", { download: name, href: URL.createObjectURL(new Blob([text], { type })) });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

const STYLES = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-opacity", "font-size"];

/** A drawing as a file of its own: what the page's style says is written into each element. */
export function svgText(svg) {
  const copy = svg.cloneNode(true);
  const from = svg.querySelectorAll("*");
  copy.querySelectorAll("*").forEach((node, k) => {
    const style = getComputedStyle(from[k]);
    for (const name of STYLES) node.setAttribute(name, style.getPropertyValue(name));
    if (node.tagName === "text") node.setAttribute("font-family", "system-ui, sans-serif");
  });
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  return new XMLSerializer().serializeToString(copy);
}

const fileName = (words) => words.replaceAll(/[^\p{L}\p{N}]+/gu, "_").replaceAll(/^_|_$/g, "") || "chart";

/** Two small buttons that save the drawing in a host, and its numbers as `lines` gives them. */
export function saveButtons(name, host, lines) {
  const onSvg = () => {
    const svg = host.querySelector("svg");
    if (svg) download(`${fileName(name)}.svg`, "image/svg+xml", svgText(svg));
  };
  const onCsv = () => download(`${fileName(name)}.csv`, "text/csv", csv(lines()));
  const button = (label, what, onclick) =>
    make("button", { type: "button", class: "save", "aria-label": `Save ${what} of ${name}`, onclick }, label);
  return make("span", { class: "saves" }, button("SVG", "the chart", onSvg), button("CSV", "the numbers", onCsv));
}

/** Show the row of the address, such as #row=17: row 17 of those that travel with the page, counted from 1. */
function followAddress() {
  const asked = /^#row=(\d+)$/.exec(location.hash);
  if (!asked) return;
  const example = data.rows[Number(asked[1]) - 1];
  if (!example) {
    say(`There is no row ${asked[1]}: the page has ${data.rows.length}.`);
    return;
  }
  showExample(example);
  say(`Row ${asked[1]} of the examples.`);
}

/** What a missing number counts as: itself, where the column knows gaps, else what the model fills in. */
function missingValue({ flag, fill, start }) {
  if (fill === null) return start;
  return flag === null ? fill : Number.NaN;
}

function showExample(example) {
  set(Object.fromEntries(read.map((i) => [i, example[i] ?? missingValue(columns[i])])));
}

export function startSharing() {
  byId("copy").addEventListener("click", copyRow);
  byId("random").hidden = data.rows.length === 0;
  byId("random").addEventListener("click", () => {
    const k = Math.floor(Math.random() * data.rows.length);
    showExample(data.rows[k]);
    history.replaceState(null, "", `#row=${k + 1}`);
    say(`Row ${k + 1} of the examples.`);
  });
  addEventListener("hashchange", followAddress);
  followAddress();
  onSet(() => say(""));
}
