// Rulers in millimetres along the canvas, counted from the corner of the trimmed page.

import { make } from "./dom.js";

const THICK = 22;
const APART = 48;
const STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500];

export function makeRulers(viewport, sheet) {
  const top = make("canvas", { class: "ds-ruler ds-ruler-top", "aria-hidden": "true" });
  const left = make("canvas", { class: "ds-ruler ds-ruler-left", "aria-hidden": "true" });
  const corner = make("div", { class: "ds-corner", "aria-hidden": "true" }, "mm");
  let last = null;

  function prepared(canvas, width, height) {
    const sharp = window.devicePixelRatio || 1;
    canvas.width = Math.round(width * sharp);
    canvas.height = Math.round(height * sharp);
    const pen = canvas.getContext("2d");
    pen.scale(sharp, sharp);
    const colors = getComputedStyle(canvas);
    pen.fillStyle = colors.backgroundColor;
    pen.fillRect(0, 0, width, height);
    pen.fillStyle = colors.color;
    pen.strokeStyle = colors.color;
    pen.font = "10px Inter, sans-serif";
    return pen;
  }

  function drawAlong(canvas, isTop, length, start, state) {
    const pen = prepared(canvas, isTop ? length : THICK, isTop ? THICK : length);
    const step = STEPS.find((one) => one * state.scale >= APART) || STEPS.at(-1);
    const part = step / (step % 5 ? 2 : 5) || 1;
    if (state.selected) {
      const [from, to] = isTop ? [state.selected.left, state.selected.right] : [state.selected.top, state.selected.bottom];
      pen.globalAlpha = 0.18;
      if (isTop) pen.fillRect(start + from * state.scale, 0, (to - from) * state.scale, THICK);
      else pen.fillRect(0, start + from * state.scale, THICK, (to - from) * state.scale);
      pen.globalAlpha = 1;
    }
    pen.beginPath();
    for (let number = Math.ceil(-start / state.scale / part); start + number * part * state.scale <= length; number += 1) {
      const at = Math.round(start + number * part * state.scale) + 0.5;
      const isWhole = Math.abs((number * part) % step) < 1e-6;
      const tick = isWhole ? 9 : 4;
      if (isTop) {
        pen.moveTo(at, THICK - tick);
        pen.lineTo(at, THICK);
      } else {
        pen.moveTo(THICK - tick, at);
        pen.lineTo(THICK, at);
      }
      if (isWhole) label(pen, isTop, at, String(Math.round(number * part)));
    }
    pen.globalAlpha = 0.7;
    pen.stroke();
  }

  function label(pen, isTop, at, text) {
    if (isTop) {
      pen.fillText(text, at + 3, 10);
      return;
    }
    pen.save();
    pen.translate(10, at + 3);
    pen.rotate(Math.PI / 2);
    pen.fillText(text, 0, 0);
    pen.restore();
  }

  function draw(state) {
    last = state || last;
    if (!last) return;
    const seen = viewport.getBoundingClientRect();
    const area = sheet.getBoundingClientRect();
    const corner = last.bleed * last.scale;
    drawAlong(top, true, viewport.clientWidth, area.left - seen.left + corner, last);
    drawAlong(left, false, viewport.clientHeight, area.top - seen.top + corner, last);
  }

  viewport.addEventListener("scroll", () => draw(), { passive: true });
  // The colors of the theme are read when drawing.
  new MutationObserver(() => draw()).observe(document.documentElement, { attributes: true, attributeFilter: ["class"] });
  return { top, left, corner, draw };
}
