// What may print badly on the open page: numbered frames on the canvas, and a list that says why and what helps.

import { draw, make } from "./dom.js";
import { boxesOf, keyOf, openPage } from "./store.js";
import { numeric } from "./geometry.js";

const SEVERITIES = { Error: gettext("Error"), Warning: gettext("Warning") };
const SMALLEST_MM = 1.5;
// Around small letters, so that the frame does not cover them.
const ROOM_MM = 0.4;

export function makePreflight({ store, canvas }) {
  const marks = draw("svg", { class: "preflight-marks", "aria-hidden": "true" });
  canvas.sheet.append(marks);
  const section = make("div", { class: "ds-preflight", role: "status", "aria-label": gettext("Preflight") });
  const isHere = (finding) => finding.Page === store.state.page + 1;

  function lead({ place }) {
    const box = boxesOf(store.state)[place];
    if (!box) return;
    store.set({ selection: [keyOf(box)] });
    canvas.scrollTo(keyOf(box));
    canvas.focus(keyOf(box));
  }

  function frame(finding, numbers) {
    const { X, Y, Width, Height } = finding.Box;
    const [width, height] = [Width, Height].map((side) => Math.max(side + 2 * ROOM_MM, SMALLEST_MM));
    const [x, y] = [X - (width - Width) / 2, Y - (height - Height) / 2];
    return draw(
      "g",
      { class: `preflight-${finding.Severity.toLowerCase()}` },
      draw("rect", { x, y, width, height }),
      draw("text", { x, y, dy: "-0.25em", "font-size": 12 / store.state.scale }, numbers),
    );
  }

  function item(finding, number) {
    const words = [
      make("p", {}, make("strong", {}, SEVERITIES[finding.Severity] ?? finding.Severity), ` ${finding.Message}`),
      make("p", { class: "preflight-remedy" }, finding.Remedy),
    ];
    const there = finding.place !== null;
    const shown = there ? make("button", { type: "button", class: "ds-lead", onclick: () => lead(finding) }, gettext("Select the box")) : null;
    return make(
      "li",
      { class: `preflight-item preflight-${finding.Severity.toLowerCase()}` },
      make("span", { class: "preflight-number", "aria-hidden": "true" }, String(number)),
      make("div", {}, ...words, shown),
    );
  }

  function drawMarks() {
    const page = openPage(store.state);
    const bleed = Math.max(0, numeric(page.BleedMM));
    const size = [numeric(page.WidthMM) + 2 * bleed, numeric(page.HeightMM) + 2 * bleed];
    marks.setAttribute("viewBox", `${-bleed} ${-bleed} ${size[0]} ${size[1]}`);
    // Several findings of one place share a frame; errors come first.
    const places = new Map();
    store.state.findings.filter(isHere).forEach((finding, at) => {
      const key = JSON.stringify(finding.Box);
      const place = places.get(key) || { finding, numbers: [] };
      place.numbers.push(at + 1);
      places.set(key, place);
    });
    marks.replaceChildren(...[...places.values()].map(({ finding, numbers }) => frame(finding, numbers.join(", "))));
  }

  function render() {
    drawMarks();
    const found = store.state.findings.filter(isHere);
    section.hidden = found.length === 0;
    if (found.length === 0) {
      section.replaceChildren();
      return;
    }
    const title = interpolate(ngettext("Preflight: %s finding on this page", "Preflight: %s findings on this page", found.length), [found.length]);
    const list = make("ol", { class: "preflight-list" }, ...found.map((finding, place) => item(finding, place + 1)));
    section.replaceChildren(make("details", { open: true }, make("summary", {}, title), list));
  }

  store.subscribe((state, before) => {
    if (state.findings !== before.findings || state.page !== before.page) render();
    else if (state.scale !== before.scale) drawMarks();
  });
  render();
  return { section };
}
