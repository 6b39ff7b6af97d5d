// The boxes of the page from front to back: select, order, name, lock, hide.

import { patch, place } from "./commands.js";
import { icon, make } from "./dom.js";
import { KINDS } from "./kinds.js";
import { boxesOf, keyOf, titleOf } from "./store.js";

export function makeLayers({ store, canvas, data, say }) {
  const list = make("ol", { class: "ds-layers", "aria-label": gettext("Layers, front first") });
  const note = make("p", { class: "console-help", hidden: true });
  const empty = make("p", { class: "console-help" }, gettext("No box yet: add one from the bar above."));
  const section = make("section", { class: "ds-part", "aria-labelledby": "ds-layers-title" }, make("h2", { id: "ds-layers-title" }, gettext("Layers")), empty, list, note);
  let renamed = null;
  let dragged = null;
  let shown = "";

  const change = (label, key, values) => store.run(label, (draft) => patch(draft, store.state.page, [key], () => values));

  function hide(key) {
    const hidden = new Set(store.state.hidden);
    if (!hidden.delete(key)) hidden.add(key);
    store.set({ hidden });
  }

  function move(key, by) {
    const at = boxesOf(store.state).findIndex((box) => keyOf(box) === key);
    const to = at + by;
    if (to < 0 || to >= boxesOf(store.state).length) return;
    store.run(gettext("Order changed"), (draft) => place(draft, store.state.page, key, to));
    const count = boxesOf(store.state).length;
    say(interpolate(gettext("Layer %(number)s of %(count)s."), { number: count - to, count }, true));
    row(key)?.querySelector(".ds-layer").focus();
  }

  function rename(key) {
    renamed = key;
    render(store.state, true);
    const input = list.querySelector(".ds-rename");
    input.focus();
    input.select();
  }

  function finish(key, value) {
    if (renamed !== key) return;
    renamed = null;
    if (value !== null) change(gettext("Rename"), key, { Name: value.trim() || undefined });
    render(store.state, true);
    row(key)?.querySelector(".ds-layer").focus();
  }

  const row = (key) => list.querySelector(`[data-key="${key}"]`);

  function nameInput(box, key) {
    return make("input", {
      type: "text", class: "ds-rename", value: box.Name || titleOf(box), maxlength: data.limits.name, "aria-label": interpolate(gettext("Name of the layer %s"), [titleOf(box)]),
      onblur: (event) => finish(key, event.target.value),
      onkeydown: (event) => {
        if (event.key === "Enter") finish(key, event.target.value);
        if (event.key === "Escape") finish(key, null);
      },
    });
  }

  function layer(box, state) {
    const key = keyOf(box);
    const title = titleOf(box);
    const isHidden = state.hidden.has(key);
    const button = make(
      "button",
      {
        type: "button", class: "ds-layer", "aria-pressed": String(state.selection.includes(key)), title: gettext("F2 renames, Alt + arrow keys order"),
        onclick: (event) => {
          const { selection } = store.state;
          const many = event.shiftKey || event.ctrlKey || event.metaKey;
          store.set({ selection: !many ? [key] : selection.includes(key) ? selection.filter((one) => one !== key) : [...selection, key] });
          canvas.scrollTo(key);
        },
        ondblclick: () => rename(key),
        onkeydown: (event) => {
          if (event.key === "F2") rename(key);
          else if (event.altKey && event.key === "ArrowUp") move(key, 1);
          else if (event.altKey && event.key === "ArrowDown") move(key, -1);
          else return;
          event.preventDefault();
        },
      },
      icon(KINDS[box.Kind]?.symbol ?? "crop_square"),
      make("span", {}, title),
    );
    const small = (name, label, symbol, pressed, act) =>
      make("button", { type: "button", class: "ds-mini", "aria-label": interpolate(label, [title]), title: name, "aria-pressed": pressed === null ? null : String(pressed), onclick: act }, icon(symbol));
    const lock = box.Locked ? [gettext("Unlock"), gettext("Unlock %s"), "lock"] : [gettext("Lock"), gettext("Lock %s"), "lock_open_right"];
    const sight = isHidden ? [gettext("Show"), gettext("Show %s"), "visibility_off"] : [gettext("Hide"), gettext("Hide %s"), "visibility"];
    return make(
      "li",
      {
        "data-key": key, draggable: renamed === key ? null : "true", class: state.selection.includes(key) ? "ds-chosen" : "",
        ondragstart: (event) => {
          dragged = key;
          event.dataTransfer.effectAllowed = "move";
          event.dataTransfer.setData("text/plain", title);
        },
        ondragover: (event) => dragged !== null && event.preventDefault(),
        ondrop: (event) => {
          event.preventDefault();
          const to = boxesOf(store.state).findIndex((one) => keyOf(one) === key);
          const moving = dragged;
          dragged = null;
          if (moving !== null && moving !== key) store.run(gettext("Order changed"), (draft) => place(draft, store.state.page, moving, to));
        },
        ondragend: () => (dragged = null),
      },
      renamed === key ? nameInput(box, key) : button,
      small(gettext("Rename"), gettext("Rename %s"), "edit", null, () => rename(key)),
      small(...lock, Boolean(box.Locked), () => change(lock[0], key, { Locked: !box.Locked })),
      small(...sight, isHidden, () => hide(key)),
    );
  }

  function render(state, always = false) {
    const boxes = [...boxesOf(state)].reverse();
    const now = JSON.stringify(boxes.map((box) => [keyOf(box), titleOf(box), box.Kind, box.Locked, state.hidden.has(keyOf(box)), state.selection.includes(keyOf(box))]));
    if (now === shown && !always) return;
    shown = now;
    const active = document.activeElement;
    const at = list.contains(active) ? [active.closest("li").dataset.key, [...active.closest("li").children].indexOf(active)] : null;
    list.replaceChildren(...boxes.map((box) => layer(box, state)));
    if (at && renamed === null) row(at[0])?.children[at[1]]?.focus({ preventScroll: true });
    empty.hidden = boxes.length > 0;
    const hidden = boxes.filter((box) => state.hidden.has(keyOf(box))).length;
    note.hidden = hidden === 0;
    note.textContent = interpolate(ngettext("%s hidden while you work, and printed all the same.", "%s hidden while you work, and printed all the same.", hidden), [hidden]);
  }
  store.subscribe((state) => render(state));
  return { section, render };
}
