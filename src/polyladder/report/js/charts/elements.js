/* Elements of the page and of drawings. Text is always set as text. */

const SPACE = "http://www.w3.org/2000/svg";

/** A new element of the page: make("p", {class: "note"}, "text or", elements). */
export function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter((c) => c !== null && c !== undefined));
  return node;
}

/** A table of rows below a head, which is a list of cells. */
export function table(head, rows) {
  return make("table", {}, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...rows));
}

/** A part that scrolls where it is too wide, by the keyboard too. */
export function scrolling(label, content) {
  return make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, content);
}

/** A bar whose length is a share of the room that it has. */
export function meter(share) {
  const bar = make("span");
  bar.style.width = `${100 * share}%`;
  return make("div", { class: "meter" }, bar);
}

/** An element of a drawing, without a parent. */
export function shape(tag, attributes = {}) {
  const node = document.createElementNS(SPACE, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return node;
}

/** A new element within a drawing. */
export function draw(parent, tag, attributes = {}, text = null) {
  const node = shape(tag, attributes);
  if (text !== null) node.textContent = text;
  parent.append(node);
  return node;
}

/** An empty drawing as wide as its host. */
export function canvas(host, height, label) {
  const width = Math.max(120, Math.floor(host.clientWidth || 280));
  const box = { width, height, viewBox: `0 0 ${width} ${height}` };
  const svg = shape("svg", { ...box, role: "img", "aria-label": label });
  host.replaceChildren(svg);
  return { svg, width, height };
}

/** A press on a drawing, and dragging from there, reports where it is. It may be redrawn meanwhile. */
export function follow(svg, report) {
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
