// Elements without markup in strings; the policy allows no inline handler and no inline style.

export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.className = value;
    else if (name === "value") element.value = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export const icon = (name) => make("span", { class: "material-symbols-outlined ds-icon", "aria-hidden": "true" }, name);

// A button that shows an icon and bears its name and keys as a tooltip.
export function tool(name, symbol, onclick, more = {}) {
  const { keys, ...attributes } = more;
  const title = keys ? `${name} (${keys})` : name;
  return make("button", { type: "button", class: "ds-tool", "aria-label": name, title, onclick, ...attributes }, icon(symbol));
}

let count = 0;
export const freshId = (start) => `ds-${start}-${(count += 1)}`;

export const isTyping = (target) => target instanceof HTMLElement && target.matches("input:not([type=checkbox], [type=radio]), textarea, select");

const SVG = "http://www.w3.org/2000/svg";
export function draw(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

// Keeps the focus and the caret where they are when `render` draws the inputs of `root` anew.
export function redraw(root, children) {
  const active = document.activeElement;
  const name = root.contains(active) && active.dataset.name;
  const caret = name && "selectionStart" in active && active.type === "text" ? active.selectionStart : null;
  root.replaceChildren(...children.flat().filter(Boolean));
  if (!name) return;
  const again = [...root.querySelectorAll("[data-name]")].find((one) => one.dataset.name === name);
  if (!again) return;
  again.focus({ preventScroll: true });
  if (caret !== null && again.type === "text") again.setSelectionRange(caret, caret);
}
