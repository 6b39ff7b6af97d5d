// The sheet at its zoom: picture, print guides, one button for each box, and the frame of what is selected.

import { draw, make } from "./dom.js";
import { numeric, placeOf, unionOf } from "./geometry.js";
import { KINDS } from "./kinds.js";
import { makeRulers } from "./rulers.js";
import { boxesOf, keyOf, openPage, selectedBoxes, titleOf } from "./store.js";

export const MM_AT_100 = 96 / 25.4;
const ZOOM = { least: 0.1 * MM_AT_100, most: 16 * MM_AT_100 };
const MARGIN = { wide: 36, narrow: 12 };
// Names stand in a column of their own beside the sheet, so that they cover no text.
const NAMES = { width: 118, line: 15 };
const NARROW = 600;
// A frame that is smaller on the screen has no room for the handles in the middle of its sides.
const ROOM = 34;
const EDGES = ["nw", "n", "ne", "e", "se", "s", "sw", "w"];

export function makeCanvas({ store, data }) {
  const picture = make("img", { class: "ds-picture", alt: "", hidden: true, draggable: "false" });
  const guides = draw("svg", { class: "ds-guides", "aria-hidden": "true" });
  const lines = draw("svg", { class: "ds-lines", "aria-hidden": "true" });
  const boxes = make("div", { class: "ds-boxes", role: "group", "aria-label": gettext("Boxes on the page") });
  const names = make("div", { class: "ds-names", "aria-hidden": "true" });
  const frame = make("div", { class: "ds-frame", hidden: true });
  for (const edge of EDGES) frame.append(make("span", { class: `ds-edge ds-${edge}`, "data-edge": edge }));
  frame.append(make("span", { class: "ds-turn", "data-edge": "turn" }));
  const band = make("div", { class: "ds-band", hidden: true });
  const none = make("p", { class: "ds-none", hidden: true }, gettext("No preview until the problems of this page are fixed."));
  const sheet = make("div", { class: "ds-sheet" }, picture, none, guides, boxes, names, frame, lines, band);
  const space = make("div", { class: "ds-space" }, sheet);
  const viewport = make("div", { class: "ds-viewport" }, space);
  const rulers = makeRulers(viewport, sheet);
  const element = make("div", { class: "ds-canvas" }, rulers.corner, rulers.top, rulers.left, viewport);
  const legend = make("p", { class: "ds-legend" });
  const pictures = new Map();
  let fitted = true;

  const bleedOf = (page) => Math.max(0, numeric(page.BleedMM));
  const sizeOf = (page) => ({ width: Math.max(1, numeric(page.WidthMM)), height: Math.max(1, numeric(page.HeightMM)), bleed: bleedOf(page) });

  function setBox(target, { X, Y, Width, Height, Rotation }, { scale, bleed }) {
    target.style.left = `${(X + bleed) * scale}px`;
    target.style.top = `${(Y + bleed) * scale}px`;
    target.style.width = `${Width * scale}px`;
    target.style.height = `${Height * scale}px`;
    target.style.transform = Rotation ? `rotate(${Rotation}deg)` : "";
  }

  function drawGuides(state, { width, height, bleed }) {
    const whole = { width: width + 2 * bleed, height: height + 2 * bleed };
    guides.setAttribute("viewBox", `${-bleed} ${-bleed} ${whole.width} ${whole.height}`);
    const parts = [];
    if (state.grid) {
      const path = [];
      const every = state.scale >= 2.5 * MM_AT_100 ? 1 : 5;
      for (let x = every; x < width; x += every) path.push(`M${x} 0V${height}`);
      for (let y = every; y < height; y += every) path.push(`M0 ${y}H${width}`);
      parts.push(draw("path", { class: "ds-grid-lines", d: path.join("") }));
    }
    if (state.guides) {
      if (bleed) {
        const ring = `M${-bleed} ${-bleed}h${whole.width}v${whole.height}h${-whole.width}zM0 0v${height}h${width}v${-height}z`;
        parts.push(draw("path", { class: "ds-bleed", d: ring }));
      }
      parts.push(draw("rect", { class: "ds-trim", x: 0, y: 0, width, height }));
      const safe = data.safeMM;
      if (width > 2 * safe && height > 2 * safe) {
        parts.push(draw("rect", { class: "ds-safe", x: safe, y: safe, width: width - 2 * safe, height: height - 2 * safe }));
      }
    }
    guides.replaceChildren(...parts);
    const names = [
      ["ds-of-bleed", bleed && interpolate(gettext("Bleed %s mm"), [bleed])],
      ["ds-of-trim", interpolate(gettext("Trim %(width)s × %(height)s mm"), { width, height }, true)],
      ["ds-of-safe", interpolate(gettext("Safe area, %s mm inside"), [data.safeMM])],
    ];
    legend.replaceChildren(...names.filter(([, name]) => state.guides && name).map(([kind, name]) => make("span", { class: kind }, name)));
  }

  function boxButton(box, place, state) {
    const key = String(keyOf(box));
    const button = boxes.querySelector(`[data-key="${key}"]`) || make("button", { type: "button", class: "ds-box", "data-key": key });
    const at = placeOf(box);
    const title = titleOf(box);
    const selected = state.selection.includes(keyOf(box));
    button.dataset.place = String(place);
    button.classList.toggle("ds-selected", selected);
    button.classList.toggle("ds-wrong", state.faults.some((fault) => fault.pointer.startsWith(`/Pages/${state.page}/Boxes/${place}/`)));
    button.classList.toggle("ds-locked", Boolean(box.Locked));
    button.hidden = state.hidden.has(keyOf(box));
    button.setAttribute("aria-pressed", String(selected));
    const label = box.Locked
      ? gettext("%(title)s, %(kind)s: %(X)s mm from the left, %(Y)s mm from the top, %(Width)s by %(Height)s mm, locked")
      : gettext("%(title)s, %(kind)s: %(X)s mm from the left, %(Y)s mm from the top, %(Width)s by %(Height)s mm");
    button.setAttribute("aria-label", interpolate(label, { title, kind: KINDS[box.Kind]?.name ?? box.Kind, ...at }, true));
    button.title = title;
    return button;
  }

  function drawBoxes(state, size) {
    const where = { scale: state.scale, bleed: size.bleed };
    const wanted = boxesOf(state).map((box, place) => [boxButton(box, place, state), placeOf(box)]);
    for (const [button, at] of wanted) setBox(button, at, where);
    const order = wanted.map(([button]) => button);
    if (order.length !== boxes.childElementCount || order.some((button, place) => boxes.children[place] !== button)) {
      const focused = document.activeElement;
      boxes.replaceChildren(...order);
      if (order.includes(focused)) focused.focus({ preventScroll: true });
    }
    const chosen = selectedBoxes(state);
    frame.hidden = chosen.length === 0 || chosen.some((box) => box.Locked || state.hidden.has(keyOf(box)));
    frame.classList.toggle("ds-several", chosen.length > 1);
    if (chosen.length === 1) setBox(frame, placeOf(chosen[0]), where);
    if (chosen.length > 1) {
      const { left, top, right, bottom } = unionOf(chosen);
      setBox(frame, { X: left, Y: top, Width: right - left, Height: bottom - top, Rotation: 0 }, where);
    }
  }

  function drawNames(state, { bleed }) {
    const rows = boxesOf(state)
      .filter((box) => !state.hidden.has(keyOf(box)))
      .map((box) => [box, (placeOf(box).Y + placeOf(box).Height / 2 + bleed) * state.scale - NAMES.line / 2])
      .sort(([, one], [, other]) => one - other);
    let next = -Infinity;
    names.replaceChildren(...rows.map(([box, top]) => {
      next = Math.max(top, next + NAMES.line);
      const name = make("span", { class: "ds-name", "data-key": String(keyOf(box)), title: titleOf(box) }, titleOf(box));
      name.classList.toggle("ds-selected", state.selection.includes(keyOf(box)));
      name.style.top = `${next}px`;
      return name;
    }));
  }
  for (const [event, isOn] of [["pointerover", true], ["pointerout", false]]) {
    boxes.addEventListener(event, ({ target }) => names.querySelector(`[data-key="${target.dataset.key}"]`)?.classList.toggle("ds-pointed", isOn));
  }

  const roomForNames = () => (store.state.names && viewport.clientWidth >= NARROW ? NAMES.width : 0);

  function fitHandles() {
    frame.classList.toggle("ds-low", frame.offsetHeight < ROOM);
    frame.classList.toggle("ds-narrow", frame.offsetWidth < ROOM);
  }

  function render(state) {
    const size = sizeOf(openPage(state));
    sheet.style.width = `${(size.width + 2 * size.bleed) * state.scale}px`;
    sheet.style.height = `${(size.height + 2 * size.bleed) * state.scale}px`;
    picture.alt = interpolate(gettext("Page %s as it will be printed, with the sample data"), [state.page + 1]);
    drawGuides(state, size);
    drawBoxes(state, size);
    names.hidden = !roomForNames();
    space.style.paddingRight = names.hidden ? "" : `${NAMES.width}px`;
    if (!names.hidden) drawNames(state, size);
    if (!frame.hidden) fitHandles();
    rulers.draw({ ...size, scale: state.scale, selected: selectedBoxes(state).length ? unionOf(selectedBoxes(state)) : null });
  }

  function zoomTo(scale, around) {
    const before = store.state.scale;
    const wanted = Math.min(ZOOM.most, Math.max(ZOOM.least, scale));
    const area = sheet.getBoundingClientRect();
    const seen = viewport.getBoundingClientRect();
    const point = around || { x: seen.left + seen.width / 2, y: seen.top + seen.height / 2 };
    fitted = false;
    store.set({ scale: wanted });
    const after = sheet.getBoundingClientRect();
    viewport.scrollLeft += after.left + ((point.x - area.left) * wanted) / before - point.x;
    viewport.scrollTop += after.top + ((point.y - area.top) * wanted) / before - point.y;
  }

  function fit() {
    const { width, height, bleed } = sizeOf(openPage(store.state));
    const margin = viewport.clientWidth < NARROW ? MARGIN.narrow : MARGIN.wide;
    const [free, high] = [viewport.clientWidth - margin - (roomForNames() || margin), viewport.clientHeight - 2 * margin];
    const scale = Math.min(free / (width + 2 * bleed), high / (height + 2 * bleed));
    fitted = true;
    if (scale > 0) store.set({ scale: Math.min(ZOOM.most, Math.max(ZOOM.least, scale)) });
  }

  async function showPicture(source, page) {
    none.hidden = Boolean(source || pictures.get(page));
    if (source) {
      pictures.set(page, source);
      picture.src = source;
      await picture.decode().catch(() => {});
    }
    // While the page itself is wrong, its last good picture stays.
    picture.hidden = !pictures.has(page);
  }

  store.subscribe((state, before) => {
    if (state.page !== before.page) {
      picture.hidden = !pictures.has(state.page);
      if (pictures.has(state.page)) picture.src = pictures.get(state.page);
    }
    const size = ["WidthMM", "HeightMM", "BleedMM"].some((name) => openPage(state)[name] !== openPage(before)[name]);
    if ((size || state.names !== before.names) && fitted) fit();
    else render(state);
  });
  new ResizeObserver(() => (fitted ? fit() : render(store.state))).observe(viewport);

  return {
    element, viewport, sheet, boxes, legend,
    render, fit, zoomTo, showPicture,
    width: () => sheet.clientWidth,
    // Not before there is a picture.
    isBlurred: () => picture.naturalWidth > 0 && picture.naturalWidth < Math.min(sheet.clientWidth, 1600),
    scrollTo(key) {
      boxes.querySelector(`[data-key="${key}"]`)?.scrollIntoView({ block: "nearest", inline: "nearest" });
    },
    focus(key) {
      boxes.querySelector(`[data-key="${key}"]`)?.focus({ preventScroll: true });
    },
    // From a place on the screen to millimetres from the corner of the trimmed page.
    toMM(event) {
      const area = sheet.getBoundingClientRect();
      const { bleed } = sizeOf(openPage(store.state));
      return { x: (event.clientX - area.left) / store.state.scale - bleed, y: (event.clientY - area.top) / store.state.scale - bleed };
    },
    showLines(met) {
      const { width, height, bleed } = sizeOf(openPage(store.state));
      lines.setAttribute("viewBox", `${-bleed} ${-bleed} ${width + 2 * bleed} ${height + 2 * bleed}`);
      lines.replaceChildren(
        ...met.map(({ axis, line }) =>
          axis === "across"
            ? draw("line", { x1: line, x2: line, y1: -bleed, y2: height + bleed })
            : draw("line", { y1: line, y2: line, x1: -bleed, x2: width + bleed }),
        ),
      );
    },
    setBand(area) {
      band.hidden = !area;
      if (!area) return;
      const { bleed } = sizeOf(openPage(store.state));
      setBox(band, { X: area.left, Y: area.top, Width: area.right - area.left, Height: area.bottom - area.top }, { scale: store.state.scale, bleed });
    },
  };
}
