// What is selected, member by member; the page itself where nothing is. The server says which members a kind has.

import { choiceControl, flagControl, MIXED, numberControl, selectControl, textControl } from "./controls.js";
import { colorControl } from "./colors.js";
import { fontControl } from "./fonts.js";
import { make } from "./dom.js";
import { KINDS } from "./kinds.js";
import { boxesOf, fieldsOf, keyOf, openPage, selectedBoxes } from "./store.js";

export function makeInspector({ store, data, actions, server }) {
  const title = make("h2", { id: "ds-inspector-title" });
  const body = make("div", { class: "ds-controls" });
  const section = make("section", { class: "ds-part", "aria-labelledby": "ds-inspector-title" }, title, body);
  let controls = [];
  let signature = "";

  const familiar = { number: numberControl, choice: choiceControl, flag: flagControl };
  function controlFor(member, change) {
    if (member.form === "color") return colorControl(member, change, server);
    if (member.form === "font") return fontControl(member, data.families, change, server);
    if (member.form === "text") return textControl(member, change, { longest: data.limits.name });
    return familiar[member.form](member, change);
  }

  function commonOf(boxes, name) {
    const values = boxes.map((box) => box[name]);
    return values.every((value) => JSON.stringify(value) === JSON.stringify(values[0])) ? values[0] : MIXED;
  }

  function contentControls(boxes) {
    const [{ Kind }] = boxes;
    const kinds = selectControl(gettext("Kind"), "Kind", Object.entries(data.kinds).map(([kind, name]) => [kind, KINDS[kind]?.name ?? name]), (kind) => actions.setMembers(gettext("Kind"), { ...withoutOthers(kind), Kind: kind }));
    const fields = fieldsOf(store.state).filter((field) => actions.kindFits(field, Kind)).map((field) => [field.name, interpolate(gettext("Field %s"), [field.name])]);
    const source = selectControl(gettext("Shows"), "Field", [...(Kind === "Image" ? [] : [["", gettext("A fixed text")]]), ...fields], (name) =>
      actions.setMembers(gettext("Shows"), name ? { Field: name, Text: undefined } : { Field: undefined, Text: data.newBoxes[Kind].Text }),
    );
    const parts = [
      { name: "Kind", ...kinds },
      { name: "Field", ...source },
    ];
    if (Kind === "Image") {
      const upload = make("button", { type: "button", class: "console-button console-small", onclick: () => actions.choosePicture() }, gettext("Upload a picture …"));
      parts.push({ name: "upload", element: make("div", { class: "ds-full" }, upload), show() {}, showErrors() {} });
    }
    if (!boxes[0].Field) {
      const text = textControl({ name: "Text", label: gettext("Text") }, (value) => actions.setMembers(gettext("Text"), { Text: value ?? "" }, "Text"), { rows: 2, longest: data.limits.text });
      parts.push({ name: "Text", ...text });
    }
    return parts;
  }

  // What another kind does not know is left behind.
  function withoutOthers(kind) {
    const gone = data.boxMembers.filter((member) => !member.kinds.includes(kind)).map((member) => [member.name, undefined]);
    const size = data.newBoxes[kind].Size ? { Size: data.newBoxes[kind].Size } : {};
    const fixed = data.fixedKinds.includes(kind) ? { Field: undefined, Text: data.newBoxes[kind].Text } : {};
    return { ...Object.fromEntries(gone), Fit: undefined, ...size, ...fixed };
  }

  function boxControls(boxes) {
    const members = data.boxMembers.filter((member) => boxes.every((box) => member.kinds.includes(box.Kind)));
    const seen = new Set();
    const parts = boxes.length === 1 ? contentControls(boxes) : [];
    for (const member of members) {
      if (seen.has(member.name) || (member.name === "Name" && boxes.length > 1)) continue;
      seen.add(member.name);
      const change = (value) => actions.setMembers(member.label, { [member.name]: value }, member.name);
      parts.push({ name: member.name, ...controlFor(member, change) });
    }
    return parts;
  }

  function pageControls(state) {
    const parts = data.pageMembers.map((member) => ({
      name: member.name,
      ...controlFor(member, (value) => actions.setPage(member.label, { [member.name]: value }, member.name)),
    }));
    const names = Object.keys(state.draft.Artwork).map((name) => [name, name]);
    const ground = selectControl(gettext("Background"), "Background", [["", gettext("none")], ...names], (name) => actions.setPage(gettext("Background"), { Background: name }), { class: "ds-full" });
    return [...parts, { name: "Background", ...ground }];
  }

  function render(state) {
    const boxes = selectedBoxes(state);
    const now = JSON.stringify([
      boxes.map((box) => [keyOf(box), box.Kind, Boolean(box.Field)]),
      state.page,
      boxes.length ? fieldsOf(state).map((field) => field.name) : Object.keys(state.draft.Artwork),
    ]);
    if (now !== signature) {
      signature = now;
      const many = boxes.length;
      title.textContent = many ? interpolate(ngettext("Box", "%s boxes", many), [many]) : interpolate(gettext("Page %s"), [state.page + 1]);
      const focused = body.contains(document.activeElement) ? document.activeElement.dataset.name : null;
      controls = boxes.length ? boxControls(boxes) : pageControls(state);
      body.replaceChildren(...controls.map((control) => control.element));
      if (focused) body.querySelector(`[data-name="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
    }
    const at = boxes.length === 1 ? boxesOf(state).indexOf(boxes[0]) : null;
    const place = boxes.length ? (at === null ? null : `/Pages/${state.page}/Boxes/${at}`) : `/Pages/${state.page}`;
    for (const control of controls) {
      control.show(boxes.length ? commonOf(boxes, control.name) : openPage(state)[control.name]);
      control.showErrors(place ? state.faults.filter((fault) => isAt(fault.pointer, `${place}/${control.name}`)).map((fault) => fault.message) : []);
    }
  }

  const isAt = (pointer, place) => pointer === place || pointer.startsWith(`${place}/`);
  store.subscribe((state) => render(state));
  return { section, render };
}
