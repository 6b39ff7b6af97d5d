// Mouse, pen and fingers on the canvas: select, drag, resize, turn, draw a band around boxes, zoom.
//
// By hand: Moveable writes <style> elements, which the policy refuses, and Konva and Fabric draw boxes where neither
// keyboard nor screen reader finds them. Here a box is a button.

import { move as moved, patch } from "./commands.js";
import { boundsOf, linesFor, placeOf, resized, round, snapped, touches, unionOf } from "./geometry.js";
import { boxesOf, keyOf, openPage, selectedBoxes } from "./store.js";

const REACH = 6;
const STARTS = 3;
const TURN = 15;

export function followPointer({ store, canvas, data, edit }) {
  const fingers = new Map();
  let gestures = 0;

  const keyAt = (target) => {
    const button = target.closest?.(".ds-box");
    return button ? Number(button.dataset.key) : null;
  };
  const isLocked = (key) => boxesOf(store.state).some((box) => keyOf(box) === key && box.Locked);

  function choose(key, event) {
    const { selection } = store.state;
    if (event.shiftKey || event.ctrlKey || event.metaKey) {
      store.set({ selection: selection.includes(key) ? selection.filter((one) => one !== key) : [...selection, key] });
    } else if (!selection.includes(key)) {
      store.set({ selection: [key] });
    }
  }

  function linesOfOthers(keys) {
    const others = boxesOf(store.state).filter((box) => !keys.includes(keyOf(box)) && !store.state.hidden.has(keyOf(box)));
    return linesFor(openPage(store.state), others, data.safeMM);
  }

  // One gesture: `step` gets the way from its start in mm; a way of some pixels only is a click.
  function track(event, target, step, end = () => {}) {
    const start = canvas.toMM(event);
    let begun = false;
    target.setPointerCapture(event.pointerId);
    const follow = (to) => {
      if (fingers.size > 1) return;
      if (!begun && Math.hypot(to.clientX - event.clientX, to.clientY - event.clientY) < STARTS) return;
      begun = true;
      const now = canvas.toMM(to);
      step(now.x - start.x, now.y - start.y, to, now);
    };
    const stop = () => {
      target.removeEventListener("pointermove", follow);
      target.removeEventListener("pointerup", stop);
      target.removeEventListener("pointercancel", stop);
      canvas.showLines([]);
      store.endMerge();
      end(begun || fingers.size > 1);
    };
    target.addEventListener("pointermove", follow);
    target.addEventListener("pointerup", stop);
    target.addEventListener("pointercancel", stop);
  }

  function drag(event, button) {
    const { page, selection, draft } = store.state;
    const keys = selection.filter((key) => !isLocked(key));
    if (keys.length === 0) return;
    const chosen = selectedBoxes(store.state).filter((box) => keys.includes(keyOf(box)));
    const begun = unionOf(chosen);
    const first = placeOf(chosen[0]);
    const lines = linesOfOthers(keys);
    const merge = `drag ${(gestures += 1)}`;
    track(event, button, (across, down, to) => {
      const shifted = { left: begun.left + across, right: begun.right + across, top: begun.top + down, bottom: begun.bottom + down };
      let by = { across, down };
      const snap = store.state.snap && !to.altKey;
      if (snap) {
        const met = snapped(shifted, lines, REACH / store.state.scale);
        canvas.showLines(met.guides);
        by = { across: across + met.across, down: down + met.down };
        // Without a line to meet, what is moved comes to a whole millimetre.
        if (!met.guides.some((one) => one.axis === "across")) by.across = Math.round(first.X + across) - first.X;
        if (!met.guides.some((one) => one.axis === "down")) by.down = Math.round(first.Y + down) - first.Y;
      } else {
        canvas.showLines([]);
      }
      store.run(gettext("Move"), () => moved(draft, page, keys, by.across, by.down), { merge });
    });
  }

  function resize(event, edge) {
    const { page, selection, draft } = store.state;
    const [box] = selectedBoxes(store.state);
    const begun = placeOf(box);
    const lines = linesOfOthers(selection);
    const merge = `resize ${(gestures += 1)}`;
    const edges = {
      across: edge.includes("w") ? ["left"] : edge.includes("e") ? ["right"] : [],
      down: edge.includes("n") ? ["top"] : edge.includes("s") ? ["bottom"] : [],
    };
    track(event, event.target, (across, down, to) => {
      let next = resized(begun, edge, across, down, data.limits.smallestBox);
      if (store.state.snap && !to.altKey && !begun.Rotation) {
        const met = snapped(boundsOf(next), lines, REACH / store.state.scale, edges);
        canvas.showLines(met.guides);
        next = resized(begun, edge, across + met.across, down + met.down, data.limits.smallestBox);
      }
      const values = Object.fromEntries(Object.entries(next).map(([name, value]) => [name, round(value)]));
      store.run(gettext("Resize"), () => patch(draft, page, selection, () => values), { merge });
    });
  }

  function turn(event) {
    const { page, selection, draft } = store.state;
    const { X, Y, Width, Height } = placeOf(selectedBoxes(store.state)[0]);
    const merge = `turn ${(gestures += 1)}`;
    track(event, event.target, (_across, _down, to, now) => {
      const angle = (Math.atan2(now.y - Y - Height / 2, now.x - X - Width / 2) * 180) / Math.PI + 90;
      const turned = to.altKey || !store.state.snap ? Math.round(angle) : Math.round(angle / TURN) * TURN;
      store.run(gettext("Turn"), () => patch(draft, page, selection, () => ({ Rotation: ((turned + 540) % 360) - 180 || undefined })), { merge });
    });
  }

  function drawBand(event) {
    const before = event.shiftKey ? store.state.selection : [];
    const start = canvas.toMM(event);
    track(
      event,
      canvas.viewport,
      (across, down) => {
        const area = {
          left: Math.min(start.x, start.x + across),
          right: Math.max(start.x, start.x + across),
          top: Math.min(start.y, start.y + down),
          bottom: Math.max(start.y, start.y + down),
        };
        canvas.setBand(area);
        const met = boxesOf(store.state).filter((box) => !box.Locked && !store.state.hidden.has(keyOf(box)) && touches(boundsOf(box), area));
        store.set({ selection: [...new Set([...before, ...met.map(keyOf)])] });
      },
      (begun) => {
        canvas.setBand(null);
        if (!begun && !event.shiftKey) store.set({ selection: [] });
      },
    );
  }

  // One finger beside the boxes moves the sheet and, at its end, the page; without a way it takes the selection away.
  function pan(event) {
    let last = event;
    const { viewport } = canvas;
    track(
      event,
      viewport,
      (_across, _down, to) => {
        const before = viewport.scrollTop;
        viewport.scrollBy(last.clientX - to.clientX, last.clientY - to.clientY);
        window.scrollBy(0, last.clientY - to.clientY - (viewport.scrollTop - before));
        last = to;
      },
      (begun) => begun || store.set({ selection: [] }),
    );
  }

  // Two fingers zoom around their middle and move the sheet along.
  function pinch() {
    const [one, other] = [...fingers.values()];
    return { apart: Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY), x: (one.clientX + other.clientX) / 2, y: (one.clientY + other.clientY) / 2 };
  }

  canvas.viewport.addEventListener("pointerdown", (event) => {
    if (event.pointerType === "touch") fingers.set(event.pointerId, event);
    if (event.button !== 0 || fingers.size > 1) return;
    const { edge } = event.target.dataset;
    const key = keyAt(event.target);
    if (edge === undefined && key === null && event.pointerType === "touch") {
      pan(event);
      return;
    }
    if (edge === undefined && key === null && event.target === canvas.viewport && onScrollBar(event)) return;
    event.preventDefault();
    if (edge === "turn") turn(event);
    else if (edge !== undefined) resize(event, edge);
    else if (key === null) drawBand(event);
    else {
      event.target.closest(".ds-box").focus({ preventScroll: true });
      choose(key, event);
      if (store.state.selection.includes(key)) drag(event, event.target.closest(".ds-box"));
    }
  });
  const onScrollBar = (event) => {
    const area = canvas.viewport.getBoundingClientRect();
    return event.clientX - area.left > canvas.viewport.clientWidth || event.clientY - area.top > canvas.viewport.clientHeight;
  };
  canvas.viewport.addEventListener("pointermove", (event) => {
    if (!fingers.has(event.pointerId)) return;
    if (fingers.size !== 2) {
      fingers.set(event.pointerId, event);
      return;
    }
    const before = pinch();
    fingers.set(event.pointerId, event);
    const now = pinch();
    if (before.apart > 0) canvas.zoomTo((store.state.scale * now.apart) / before.apart, now);
    canvas.viewport.scrollBy(before.x - now.x, before.y - now.y);
  });
  for (const kind of ["pointerup", "pointercancel"]) {
    // After the gesture itself has ended, which is no tap as long as another finger stays.
    window.addEventListener(kind, (event) => fingers.delete(event.pointerId));
  }
  canvas.viewport.addEventListener(
    "wheel",
    (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      canvas.zoomTo(store.state.scale * Math.exp(-event.deltaY / 300), { x: event.clientX, y: event.clientY });
    },
    { passive: false },
  );
  canvas.boxes.addEventListener("dblclick", (event) => keyAt(event.target) !== null && edit());
}
