// The two bars above the canvas.

import { MM_AT_100 } from "./canvas.js";
import { icon, make, tool } from "./dom.js";
import { KINDS } from "./kinds.js";
import { selectedBoxes } from "./store.js";

const ALIGN = [
  ["left", gettext("Align left"), "align_horizontal_left"],
  ["center", gettext("Align centers"), "align_horizontal_center"],
  ["right", gettext("Align right"), "align_horizontal_right"],
  ["top", gettext("Align top"), "align_vertical_top"],
  ["middle", gettext("Align middles"), "align_vertical_center"],
  ["bottom", gettext("Align bottom"), "align_vertical_bottom"],
];
const ORDER = [
  ["front", gettext("Bring to front"), "flip_to_front", gettext("Shift + ]")],
  ["back", gettext("Send to back"), "flip_to_back", gettext("Shift + [")],
];

const group = (label, ...children) => make("div", { class: "ds-group", role: "group", "aria-label": label }, ...children);

export function makeToolbar({ store, canvas, data, actions, server }) {
  const undo = tool(gettext("Undo"), "undo", actions.undo, { keys: gettext("Ctrl + Z") });
  const redo = tool(gettext("Redo"), "redo", actions.redo, { keys: gettext("Ctrl + Shift + Z") });
  const add = Object.entries(KINDS).filter(([, kind]) => kind.add).map(([kind, { name, symbol, add: title }]) =>
    make("button", { type: "button", class: "ds-tool ds-add", title, "aria-label": title, onclick: () => actions.addBox(kind) }, icon(symbol), make("span", {}, name)),
  );
  const align = ALIGN.map(([edge, name, symbol]) => tool(name, symbol, () => actions.align(edge)));
  const spread = [
    tool(gettext("Distribute across"), "horizontal_distribute", () => actions.distribute("across")),
    tool(gettext("Distribute down"), "vertical_distribute", () => actions.distribute("down")),
  ];
  const order = ORDER.map(([to, name, symbol, keys]) => tool(name, symbol, () => actions.reorder(to), { keys }));
  const duplicate = tool(gettext("Duplicate"), "content_copy", actions.duplicate, { keys: gettext("Ctrl + D") });
  const remove = tool(gettext("Delete"), "delete", actions.remove, { keys: gettext("Del") });
  const switches = [
    ["names", gettext("Names on boxes"), "label"],
    ["grid", gettext("Grid"), "grid_4x4"],
    ["guides", gettext("Bleed, trim and safe area"), "crop_free"],
    ["snap", gettext("Snap to 1 mm and to other boxes"), "align_justify_space_between"],
  ].map(([name, label, symbol]) => [name, tool(label, symbol, () => store.set({ [name]: !store.state[name] }))]);
  const zoom = make("output", { class: "ds-zoom", "aria-label": gettext("Zoom") });
  const hundred = make("button", { type: "button", class: "ds-tool ds-percent", title: gettext("Zoom to 100% (0)"), "aria-label": gettext("Zoom to 100%"), onclick: actions.zoomTo100 }, zoom);
  const bar = make(
    "div",
    { class: "ds-tools" },
    group(gettext("History"), undo, redo),
    group(gettext("Add"), ...add),
    group(gettext("Selection"), duplicate, remove, ...order),
    group(gettext("Align"), ...align, ...spread),
    group(gettext("Show"), ...switches.map(([, button]) => button), tool(gettext("Keyboard"), "keyboard", actions.help, { keys: "?" })),
  );
  const view = group(
    gettext("Zoom"),
    tool(gettext("Zoom out"), "remove", () => canvas.zoomTo(store.state.scale / 1.25), { keys: "−" }),
    hundred,
    tool(gettext("Zoom in"), "add", () => canvas.zoomTo(store.state.scale * 1.25), { keys: "+" }),
    tool(gettext("Fit"), "fit_screen", () => canvas.fit(), { keys: "1" }),
  );

  const state = make("span", { class: "ds-state", role: "status" });
  const save = make("button", { type: "button", class: "console-button console-primary", onclick: () => actions.save() }, gettext("Save"));
  const head = make(
    "div",
    { class: "ds-head" },
    make("p", { class: "te-about" }, data.store),
    state,
    make(
      "div",
      { class: "console-actions" },
      make("a", { class: "console-button", href: data.addresses.template_versions }, gettext("Versions")),
      make("button", { type: "button", class: "console-button", onclick: () => server.openPdf("proof.pdf") }, gettext("Proof"), make("span", { class: "ds-roomy" }, " (PDF)")),
      make("button", { type: "button", class: "console-button", onclick: () => server.openPdf("print.pdf") }, gettext("Print file"), make("span", { class: "ds-roomy" }, " (PDF)")),
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
    const text = now.isSaving ? gettext("Saving…") : store.isChanged ? gettext("Not saved yet") : interpolate(gettext("Version %s"), [now.version]);
    if (state.textContent !== text) state.textContent = text;
    state.classList.toggle("ds-unsaved", store.isChanged);
  }
  store.subscribe(render);
  return { bar, head, view, render };
}
