// The template designer. It takes the place of the form, which works without it; the rules stay the server's.

import { makeActions } from "./actions.js";
import { makeCanvas } from "./canvas.js";
import { make } from "./dom.js";
import { makeInspector } from "./inspector.js";
import { followKeys } from "./keys.js";
import { makeLayers } from "./layers.js";
import { makePages } from "./pages.js";
import { makePictures } from "./pictures.js";
import { followPointer } from "./pointer.js";
import { makePreflight } from "./preflight.js";
import { makePreview } from "./preview.js";
import { makeSamples } from "./samples.js";
import { makeSaving } from "./saving.js";
import { makeServer } from "./server.js";
import { boxesOf, keyOf, makeStore } from "./store.js";
import { makeToolbar } from "./toolbar.js";

const PANELS = [["layers", gettext("Layers")], ["data", gettext("Data")], ["design", gettext("Design")], ["pictures", gettext("Pictures")]];

function begin(form, data) {
  const token = form.querySelector("[name=csrfmiddlewaretoken]").value;
  const said = make("p", { class: "ds-said", role: "status" });
  const say = (text) => (said.textContent = text);
  const store = makeStore({
    draft: data.draft, page: 0, version: data.version, fields: data.fields, samples: data.samples, faults: data.faults, findings: [],
    scale: 1, grid: false, names: true, guides: true, snap: true, isSaving: false,
  });
  const server = makeServer({ store, addresses: data.addresses, token });
  const canvas = makeCanvas({ store, data });
  const saving = makeSaving({ store, server, data, say });
  const actions = { ...makeActions({ store, canvas, data, say }), save: saving.save, help: saving.help };
  actions.selectPlace = (at) => boxesOf(store.state)[at] && store.set({ selection: [keyOf(boxesOf(store.state)[at])] });
  const shared = { store, server, canvas, data, actions, say };
  // Before the panels: its request is under way while they are drawn.
  const preview = makePreview(shared);
  const toolbar = makeToolbar(shared);
  const layers = makeLayers(shared);
  const samples = makeSamples(shared);
  const inspector = makeInspector(shared);
  const pictures = makePictures(shared);
  actions.choosePicture = pictures.choose;
  const pages = makePages(shared);
  const preflight = makePreflight(shared);

  pages.bar.append(toolbar.view);
  Object.assign(canvas.viewport, { tabIndex: 0 });
  canvas.viewport.setAttribute("role", "region");
  canvas.viewport.setAttribute("aria-label", gettext("Canvas"));
  const panels = make("div", { class: "ds-panels", role: "group", "aria-label": gettext("Panels") }, ...PANELS.map(([name, text]) => make("button", { type: "button", class: "ds-panel", "data-panel": name, onclick: () => openPanel(name) }, text)));
  const part = (name, ...sections) => make("div", { class: "ds-panel-body", "data-panel": name }, ...sections);
  const left = make("div", { class: "ds-left" }, part("layers", layers.section), part("data", samples.section));
  const middle = make("div", { class: "ds-middle" }, pages.bar, canvas.element, canvas.legend, said, pages.faults, preflight.section);
  const right = make("div", { class: "ds-right" }, part("design", inspector.section), part("pictures", pictures.section));
  const work = make("div", { class: "ds-work" });
  // Written in the order in which it is seen: on a narrow screen the canvas comes first.
  const narrow = window.matchMedia("(max-width: 1023px)");
  const arrange = () => work.replaceChildren(...(narrow.matches ? [middle, panels, left, right] : [left, middle, panels, right]));
  narrow.addEventListener("change", arrange);
  arrange();
  const root = make(
    "div",
    { class: "ds", id: "designer", "data-panel": "data" },
    toolbar.head, toolbar.bar,
    work,
    ...saving.dialogs,
  );
  // On a narrow screen one panel is open at a time.
  function openPanel(name) {
    root.dataset.panel = name;
    for (const button of panels.children) button.setAttribute("aria-pressed", String(button.dataset.panel === name));
  }
  document.addEventListener("designer:panel", (event) => openPanel(event.detail));
  openPanel("data");

  form.replaceWith(root);
  followPointer({ ...shared, edit: actions.edit });
  followKeys(shared);
  for (const one of [toolbar, layers, samples, inspector, pictures, pages]) one.render(store.state);
  canvas.fit();
  canvas.render(store.state);
  preview.show();
  root.dataset.ready = "";
}

const form = document.getElementById("template-editor");
const data = document.getElementById("designer-data");
if (form && data) begin(form, JSON.parse(data.textContent));
