// A color as the template has it: `#rrggbb`, percentages of four inks, or a spot color with the inks that show it on
// screens. Inks are shown as the typesetter shows them.

import { freshId, make } from "./dom.js";
import { MIXED, readNumber, shownText } from "./controls.js";

const INKS = [["C", gettext("Cyan")], ["M", gettext("Magenta")], ["Y", gettext("Yellow")], ["K", gettext("Black")]];
// What print shops usually call the plates of what they do beside printing.
const SPOTS = ["CutContour", "White", "Varnish", "Crease", "Foil"];
const MODELS = [["rgb", "sRGB"], ["cmyk", "CMYK"], ["spot", gettext("Spot")]];
const known = new Map();

const isInks = (value) => Boolean(value) && typeof value === "object";
const isSpot = (value) => isInks(value) && "Spot" in value;
const textOf = (inks) => INKS.map(([ink]) => inks[ink] ?? 0).join(" ");

// Where to begin when inks are typed for a color of the screen; the typed ones count, not these.
function startingInks(hex) {
  const parts = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255);
  const light = Math.max(...parts);
  const ink = (part) => (light ? Math.round((100 * (light - part)) / light) : 0);
  return { C: ink(parts[0]), M: ink(parts[1]), Y: ink(parts[2]), K: Math.round(100 * (1 - light)) };
}

export function colorControl(member, change, server) {
  const title = make("span", { class: "console-label", id: freshId("title") }, member.label);
  const error = make("p", { class: "console-error", hidden: true });
  const swatch = make("input", { type: "color", class: "ds-swatch", "aria-label": interpolate(gettext("%s: choose"), [member.label]), "data-name": `${member.name}:swatch` });
  const hex = make("input", { type: "text", class: "ds-hex", "aria-label": `${member.label}: sRGB`, title: gettext("#rrggbb, or four percentages: C M Y K"), placeholder: member.unset, autocomplete: "off", "data-name": member.name });
  const inks = INKS.map(([ink, name]) => make("input", { type: "text", inputmode: "decimal", "aria-label": interpolate(gettext("%(member)s: %(ink)s in percent"), { member: member.label, ink: name }, true), title: `${name} (%)`, autocomplete: "off", "data-name": `${member.name}:${ink}` }));
  const inkRow = make("div", { class: "ds-inks" }, ...INKS.map(([ink], at) => make("span", { class: "ds-ink" }, make("span", { "aria-hidden": "true" }, ink), inks[at])));
  const model = make("select", { class: "ds-model", "aria-label": interpolate(gettext("%s: model"), [member.label]), "data-name": `${member.name}:model` }, ...MODELS.map(([value, name]) => make("option", { value }, name)));
  const names = make("datalist", { id: freshId("spots") }, ...SPOTS.map((value) => make("option", { value })));
  const spot = make("input", { type: "text", class: "ds-hex", maxlength: 60, list: names.id, "aria-label": interpolate(gettext("%s: name of the spot color"), [member.label]), placeholder: gettext("Name of its plate"), title: gettext("The name of its plate; the inks above show it on screens"), autocomplete: "off", "data-name": `${member.name}:Spot` });
  const spotRow = make("div", { class: "ds-color-row", hidden: true }, spot, names);
  const clear = make("button", { type: "button", class: "ds-mini ds-clear", "aria-label": interpolate(gettext("%(member)s: back to %(unset)s"), { member: member.label, unset: member.unset }, true), title: interpolate(gettext("Back to %s"), [member.unset]) }, "×");
  const element = make("div", { class: "ds-field ds-full ds-color", role: "group", "aria-labelledby": title.id }, title, make("div", { class: "ds-color-row" }, swatch, model, hex, inkRow, clear), spotRow, error);
  const usual = /^#[0-9a-f]{6}$/i.test(member.unset) ? member.unset : "#ffffff";
  let now;

  async function showInks(value) {
    const text = textOf(value);
    if (!known.has(text)) {
      const numbers = Object.fromEntries(INKS.map(([ink]) => [ink, value[ink] ?? 0]));
      const color = await server.colorOf(numbers).catch(() => null);
      if (color) known.set(text, color);
    }
    if (now === value && known.has(text)) swatch.value = known.get(text);
  }

  function show(value) {
    now = value;
    const withInks = isInks(value);
    model.value = isSpot(value) ? "spot" : withInks ? "cmyk" : "rgb";
    spotRow.hidden = !isSpot(value);
    if (isSpot(value) && document.activeElement !== spot) spot.value = value.Spot;
    hex.hidden = withInks;
    inkRow.hidden = !withInks;
    clear.hidden = value === undefined;
    hex.placeholder = value === MIXED ? gettext("several") : member.unset;
    element.classList.toggle("ds-unset", value === undefined);
    if (withInks) {
      inks.forEach((input, at) => {
        const wanted = value[INKS[at][0]];
        if (document.activeElement !== input || readNumber(input.value) !== wanted) input.value = shownText(wanted);
      });
      showInks(value);
    } else {
      if (document.activeElement !== hex || (hex.value.trim() || undefined) !== value) hex.value = shownText(value);
      swatch.value = typeof value === "string" && /^#[0-9a-f]{6}$/i.test(value) ? value.toLowerCase() : usual;
    }
  }

  swatch.addEventListener("input", () => change(swatch.value));
  hex.addEventListener("input", () => change(hex.value.trim() || undefined));
  // Four percentages are typed as one, too.
  hex.addEventListener("change", () => {
    const parts = hex.value.split(/[\s,/]+/).filter(Boolean).map(readNumber);
    if (parts.length !== 4 || parts.some((part) => typeof part !== "number")) return;
    change(Object.fromEntries(INKS.map(([ink], at) => [ink, parts[at]])));
    inks[3].focus();
  });
  clear.addEventListener("click", () => change(undefined));
  const typedInks = () => Object.fromEntries(INKS.map(([ink], at) => [ink, readNumber(inks[at].value) ?? 0]));
  const named = () => (isSpot(now) ? { Spot: spot.value.trim() } : {});
  for (const input of inks) input.addEventListener("input", () => change({ ...named(), ...typedInks() }));
  spot.addEventListener("input", () => change({ ...named(), ...typedInks() }));
  model.addEventListener("change", () => {
    const { Spot, ...process } = isInks(now) ? now : startingInks(swatch.value);
    if (model.value === "rgb") change(swatch.value);
    else if (model.value === "cmyk") change(process);
    else change({ Spot: Spot || SPOTS[0], ...process });
    ({ rgb: hex, cmyk: inks[0], spot })[model.value].focus();
    if (model.value === "spot") spot.select();
  });
  return {
    element,
    show,
    showErrors(errors) {
      error.hidden = errors.length === 0;
      error.textContent = errors.join(" ");
    },
  };
}
