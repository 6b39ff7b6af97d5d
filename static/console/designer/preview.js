// The picture follows the draft: one request at a time, and what changed meanwhile is sent as soon as the answer is there.

import { boxesOf, keyOf, openPage } from "./store.js";

const SHARPEST = 2;

export function makePreview({ store, server, canvas, say }) {
  let busy = false;
  let again = false;

  async function show() {
    if (busy) {
      again = true;
      return;
    }
    busy = true;
    const { state } = store;
    const drawn = openPage(state);
    const hidden = boxesOf(state).flatMap((box, place) => (state.hidden.has(keyOf(box)) ? [place] : []));
    const pixels = Math.round(canvas.width() * Math.min(window.devicePixelRatio || 1, SHARPEST));
    const started = performance.now();
    try {
      const found = await server.preview({ bleed: "1", pixels: String(Math.max(pixels, 50)), hidden: hidden.join(",") });
      // The page may have been left, or another one opened, since it was sent.
      if (state.page === store.state.page && drawn) {
        await canvas.showPicture(found.picture, state.page);
        canvas.element.dataset.milliseconds = String(Math.round(performance.now() - started));
      }
      store.set({ faults: found.faults, findings: found.findings || [] });
    } catch (error) {
      say(interpolate(gettext("The preview could not be drawn: %s. Your changes are kept."), [error.message]));
    } finally {
      busy = false;
      if (again) {
        again = false;
        show();
      }
    }
  }

  store.subscribe((state, before) => {
    const changed = ["draft", "page", "samples", "hidden"].some((name) => state[name] !== before[name]);
    if (changed || (state.scale > before.scale && canvas.isBlurred())) show();
  });
  return { show };
}
