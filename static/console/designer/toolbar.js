// The two bars above the canvas.

import { MM_AT_100 } from "./canvas.js";
import { icon, make, tool } from "./dom.js";
import { keyOf, selectedBoxes } from "./store.js";

const ADD = { Text: "title", Image: "image", QRCode: "qr_code_2", Code128: "barcode" };
const ALIGN = [
  ["left", "Align left", "align_horizontal_left"],
  ["center", "Align centers", "align_horizontal_center"],
  ["right", "Align right", "align_horizontal_right"],
  ["top", "Align top", "align_vertical_top"],
  ["middle", "Align middles", "align_vertical_center"],
  ["bottom", "Align bottom", "align_vertical_bottom"],
];
const ORDER = [
  ["front", "Bring to front", "flip_to_front", "Shift + ]"],
  ["back", "Send to back", "flip_to_back", "Shift + ["],
];

const group = (label, ...children) => make("div", { class: "ds-group", role: "group", "aria-label": label }, ...children);

export function makeToolbar({ store, canvas, data, actions, server }) {
  const undo = tool("Undo", "undo", actions.undo, { keys: "Ctrl + Z" });
  const redo = tool("Redo", "redo", actions.redo, { keys: "Ctrl + Shift + Z" });
  // The other kinds are chosen for a box that is there.
  const add = Object.entries(data.kinds).filter(([kind]) => ADD[kind]).map(([kind, name]) =>
    make("button", { type: "button", class: "ds-tool ds-add", title: `Add a ${name.toLowerCase()} box`, "aria-label": `Add a ${name.toLowerCase()} box`, onclick: () => actions.addBox(kind) }, icon(ADD[kind]), make("span", {}, name)),
  );
  const align = ALIGN.map(([edge, name, symbol]) => tool(name, symbol, () => actions.align(edge)));
  const spread = [
    tool("Distribute across", "horizontal_distribute", () => actions.distribute("across")),
    tool("Distribute down", "vertical_distribute", () => actions.distribute("down")),
  ];
  const order = ORDER.map(([to, name, symbol, keys]) => tool(name, symbol, () => actions.reorder(to), { keys }));
  const duplicate = tool("Duplicate", "content_copy", actions.duplicate, { keys: "Ctrl + D" });
  const remove = tool("Delete", "delete", actions.remove, { keys: "Delete" });
  const switches = [
    ["names", "Names on boxes", "label"],
    ["grid", "Grid", "grid_4x4"],
    ["guides", "Bleed, trim and safe area", "crop_free"],
    ["snap", "Snap to 1 mm and to other boxes", "align_justify_space_between"],
  ].map(([name, label, symbol]) => [name, tool(label, symbol, () => store.set({ [name]: !store.state[name] }))]);
  const zoom = make("output", { class: "ds-zoom", "aria-label": "Zoom" });
  const hundred = make("button", { type: "button", class: "ds-tool ds-percent", title: "Zoom to 100% (0)", "aria-label": "Zoom to 100%", onclick: actions.zoomTo100 }, zoom);
  const bar = make(
    "div",
    { class: "ds-tools" },
    group("History", undo, redo),
    group("Add", ...add),
    group("Selection", duplicate, remove, ...order),
    group("Align", ...align, ...spread),
    group("Show", ...switches.map(([, button]) => button), tool("Keyboard", "keyboard", actions.help, { keys: "?" })),
  );
  const view = group(
    "Zoom",
    tool("Zoom out", "remove", () => canvas.zoomTo(store.state.scale / 1.25), { keys: "−" }),
    hundred,
    tool("Zoom in", "add", () => canvas.zoomTo(store.state.scale * 1.25), { keys: "+" }),
    tool("Fit", "fit_screen", () => canvas.fit(), { keys: "1" }),
  );

  const state = make("span", { class: "ds-state", role: "status" });
  const save = make("button", { type: "button", class: "console-button console-primary", onclick: () => actions.save() }, "Save");
  const head = make(
    "div",
    { class: "ds-head" },
    make("p", { class: "te-about" }, data.store),
    state,
    make(
      "div",
      { class: "console-actions" },
      make("a", { class: "console-button", href: data.addresses.template_versions }, "Versions"),
      make("button", { type: "button", class: "console-button", onclick: () => server.openPdf("proof.pdf") }, "Proof", make("span", { class: "ds-roomy" }, " (PDF)")),
      make("button", { type: "button", class: "console-button", onclick: () => server.openPdf("print.pdf") }, "Print file", make("span", { class: "ds-roomy" }, " (PDF)")),
      save,
    ),
  );

  function render(now) {
    const chosen = selectedBoxes(now);
    const free = chosen.filter((box) => !box.Locked).length;
    undo.disabled = !store.canUndo;
    redo.disabled = !store.canRedo;
    duplicate.disabled = chosen.length === 0;
    for (const button of [remove, ...order, ...align]) button.disabled = free === 0;
    for (const button of spread) button.disabled = free < 3;
    for (const [name, button] of switches) button.setAttribute("aria-pressed", String(now[name]));
    zoom.textContent = `${Math.round((100 * now.scale) / MM_AT_100)}%`;
    save.disabled = now.isSaving;
    const text = now.isSaving ? "Saving…" : store.isChanged ? "Not saved yet" : `Version ${now.version}`;
    if (state.textContent !== text) state.textContent = text;
    state.classList.toggle("ds-unsaved", store.isChanged);
  }
  store.subscribe(render);
  return { bar, head, view, render };
}

export const selectionWords = (state) => {
  const chosen = selectedBoxes(state);
  return chosen.length === 0 ? "Page" : chosen.length === 1 ? "Box" : `${chosen.length} boxes`;
};
export const selectionKeys = (state) => selectedBoxes(state).map(keyOf);
