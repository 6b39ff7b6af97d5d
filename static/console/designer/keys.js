// Everything the pointer does, by keyboard; `KEYS` is also what the help shows.

import { isTyping } from "./dom.js";
import { placeOf, round } from "./geometry.js";
import { move, patch } from "./commands.js";
import { boxesOf, keyOf, selectedBoxes } from "./store.js";

const STEP = 0.5;
const LARGE = 5;
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

export const KEYS = [
  [gettext("Arrow keys"), gettext("Move by 0.5 mm, with Shift by 5 mm")],
  [gettext("Alt + arrow keys"), gettext("Resize by 0.5 mm, with Shift by 5 mm")],
  [gettext("Tab, Shift + Tab"), gettext("Next and previous box")],
  [gettext("Space, Shift + Space"), gettext("Select a box, add it to the selection")],
  [gettext("Ctrl + A, Escape"), gettext("Select everything, nothing")],
  [gettext("Ctrl + D"), gettext("Duplicate")],
  [gettext("Del"), gettext("Delete")],
  [gettext("] and ["), gettext("Forward and backward, with Shift to front and back")],
  [gettext("Enter"), gettext("Edit the text")],
  [gettext("Ctrl + Z, Ctrl + Shift + Z"), gettext("Undo, redo")],
  [gettext("Ctrl + S"), gettext("Save")],
  [gettext("+ and −, 0, 1"), gettext("Zoom in and out, 100%, fit")],
  [gettext("Ctrl + wheel, pinch"), gettext("Zoom")],
  [gettext("Alt while dragging"), gettext("Without snapping")],
  ["?", gettext("This list")],
];

export function followKeys({ store, canvas, actions, say }) {
  function nudge(event) {
    const [across, down] = ARROWS[event.key];
    const by = event.shiftKey ? LARGE : STEP;
    const { page, selection } = store.state;
    const free = selectedBoxes(store.state).filter((box) => !box.Locked).map(keyOf);
    if (free.length === 0) return;
    if (event.altKey) {
      store.run(gettext("Resize"), (draft) =>
        patch(draft, page, free, (box) => {
          const { Width, Height } = placeOf(box);
          return { Width: Math.max(STEP, round(Width + across * by)), Height: Math.max(STEP, round(Height + down * by)) };
        }), { merge: `nudge ${selection}` });
    } else {
      store.run(gettext("Move"), (draft) => move(draft, page, free, across * by, down * by), { merge: `nudge ${selection}` });
    }
    const at = placeOf(selectedBoxes(store.state)[0]);
    say(interpolate(event.altKey ? gettext("%(Width)s by %(Height)s mm") : gettext("%(X)s mm from the left, %(Y)s mm from the top"), at, true));
  }

  const plain = {
    Delete: () => actions.remove(),
    Backspace: () => actions.remove(),
    Escape: () => store.set({ selection: [] }),
    Enter: () => actions.edit(),
    "]": () => actions.reorder("forward"),
    "[": () => actions.reorder("backward"),
    "}": () => actions.reorder("front"),
    "{": () => actions.reorder("back"),
    "+": () => canvas.zoomTo(store.state.scale * 1.25),
    "=": () => canvas.zoomTo(store.state.scale * 1.25),
    "-": () => canvas.zoomTo(store.state.scale / 1.25),
    0: () => actions.zoomTo100(),
    1: () => canvas.fit(),
  };
  const withCtrl = {
    a: () => store.set({ selection: boxesOf(store.state).filter((box) => !box.Locked && !store.state.hidden.has(keyOf(box))).map(keyOf) }),
    d: () => actions.duplicate(),
  };

  canvas.viewport.addEventListener("keydown", (event) => {
    const isCtrl = event.ctrlKey || event.metaKey;
    const focused = event.target.closest(".ds-box");
    // What a key does, it does to the box that has the focus.
    const acts = ARROWS[event.key] || ["Delete", "Backspace", "Enter", "[", "]", "{", "}"].includes(event.key) || (isCtrl && event.key.toLowerCase() === "d");
    if (focused && acts && !store.state.selection.includes(Number(focused.dataset.key))) store.set({ selection: [Number(focused.dataset.key)] });
    if (ARROWS[event.key] && !isCtrl && store.state.selection.length) {
      event.preventDefault();
      nudge(event);
      return;
    }
    if (event.key === " " && focused) {
      event.preventDefault();
      const key = Number(focused.dataset.key);
      const { selection } = store.state;
      const others = selection.filter((one) => one !== key);
      if (event.shiftKey) store.set({ selection: selection.includes(key) ? others : [...selection, key] });
      else store.set({ selection: [key] });
      return;
    }
    const action = isCtrl ? withCtrl[event.key.toLowerCase()] : event.altKey ? null : plain[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });

  window.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || document.querySelector("dialog[open]")) return;
    const key = event.key.toLowerCase();
    if ((event.ctrlKey || event.metaKey) && key === "s") {
      event.preventDefault();
      actions.save();
    } else if ((event.ctrlKey || event.metaKey) && (key === "z" || key === "y")) {
      // In an input the browser takes back what was typed.
      if (isTyping(event.target)) return;
      event.preventDefault();
      if (key === "y" || event.shiftKey) actions.redo();
      else actions.undo();
    } else if (event.key === "?" && !isTyping(event.target)) {
      event.preventDefault();
      actions.help();
    }
  });
}
