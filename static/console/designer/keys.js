// Everything the pointer does, by keyboard; `KEYS` is also what the help shows.

import { isTyping } from "./dom.js";
import { placeOf, round } from "./geometry.js";
import { move, patch } from "./commands.js";
import { boxesOf, keyOf, selectedBoxes } from "./store.js";

const STEP = 0.5;
const LARGE = 5;
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

export const KEYS = [
  ["Arrow keys", "Move by 0.5 mm, with Shift by 5 mm"],
  ["Alt + arrow keys", "Resize by 0.5 mm, with Shift by 5 mm"],
  ["Tab, Shift + Tab", "Next and previous box"],
  ["Space, Shift + Space", "Select a box, add it to the selection"],
  ["Ctrl + A, Escape", "Select everything, nothing"],
  ["Ctrl + D", "Duplicate"],
  ["Delete", "Delete"],
  ["] and [", "Forward and backward, with Shift to front and back"],
  ["Enter", "Edit the text"],
  ["Ctrl + Z, Ctrl + Shift + Z", "Undo, redo"],
  ["Ctrl + S", "Save"],
  ["+ and −, 0, 1", "Zoom in and out, 100%, fit"],
  ["Ctrl + wheel, pinch", "Zoom"],
  ["Alt while dragging", "Without snapping"],
  ["?", "This list"],
];

export function followKeys({ store, canvas, actions, say }) {
  function nudge(event) {
    const [across, down] = ARROWS[event.key];
    const by = event.shiftKey ? LARGE : STEP;
    const { page, selection } = store.state;
    const free = selectedBoxes(store.state).filter((box) => !box.Locked).map(keyOf);
    if (free.length === 0) return;
    if (event.altKey) {
      store.run("Resize", (draft) =>
        patch(draft, page, free, (box) => {
          const { Width, Height } = placeOf(box);
          return { Width: Math.max(STEP, round(Width + across * by)), Height: Math.max(STEP, round(Height + down * by)) };
        }), { merge: `nudge ${selection}` });
    } else {
      store.run("Move", (draft) => move(draft, page, free, across * by, down * by), { merge: `nudge ${selection}` });
    }
    const at = placeOf(selectedBoxes(store.state)[0]);
    say(event.altKey ? `${at.Width} by ${at.Height} mm` : `${at.X} mm from the left, ${at.Y} mm from the top`);
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
