// One labelled control for each kind of member. `show` gives it a value and errors without disturbing who types in it.

import { freshId, icon, make } from "./dom.js";

const CHOICES = {
  left: [gettext("left"), "format_align_left"], center: [gettext("center"), "format_align_center"], right: [gettext("right"), "format_align_right"],
  top: [gettext("top"), "vertical_align_top"], middle: [gettext("middle"), "vertical_align_center"], bottom: [gettext("bottom"), "vertical_align_bottom"],
  shrink: [gettext("shrink")], wrap: [gettext("wrap")], clip: [gettext("clip")],
  contain: [gettext("contain")], cover: [gettext("cover")], stretch: [gettext("stretch")],
};
export const MIXED = Symbol("several values");

export const shownText = (value) => (value === undefined || value === null || value === MIXED ? "" : String(value));

export function readNumber(text) {
  const trimmed = text.trim().replace(",", ".");
  if (trimmed === "") return undefined;
  const number = Number(trimmed);
  return Number.isFinite(number) ? number : text;
}

export function field(label, control, more = {}) {
  const id = control.id || freshId("field");
  control.id = id;
  const error = make("p", { class: "console-error", id: `${id}-error`, hidden: true });
  const inOrder = (title, input) => (input.type === "checkbox" ? [input, title] : [title, input]);
  const element = make("div", { class: `ds-field ${more.class || ""}` }, ...inOrder(make("label", { class: "console-label", for: id }, label), control), error);
  return {
    element,
    control,
    showErrors(errors) {
      error.hidden = errors.length === 0;
      error.textContent = errors.join(" ");
      for (const [name, value] of [["aria-invalid", "true"], ["aria-describedby", error.id]]) {
        if (errors.length) control.setAttribute(name, value);
        else control.removeAttribute(name);
      }
    },
  };
}

const showIn = (control, value, placeholder) => {
  control.placeholder = value === MIXED ? gettext("several") : placeholder;
  if (document.activeElement !== control || control.readNow?.() !== value) control.value = shownText(value);
};

export function numberControl(member, change) {
  const control = make("input", { type: "text", inputmode: "decimal", autocomplete: "off", "data-name": member.name });
  control.readNow = () => readNumber(control.value);
  const step = (by) => {
    const value = readNumber(control.value || (Number.isFinite(Number(member.unset)) ? member.unset : "0"));
    if (typeof value !== "number") return;
    control.value = String(Math.round((value + by) * 1000) / 1000);
    change(readNumber(control.value));
  };
  control.addEventListener("input", () => change(readNumber(control.value)));
  control.addEventListener("keydown", (event) => {
    if (event.key !== "ArrowUp" && event.key !== "ArrowDown") return;
    event.preventDefault();
    step(Number(member.step) * (event.key === "ArrowUp" ? 1 : -1) * (event.shiftKey ? 10 : 1));
  });
  const one = field(member.label, control);
  return { ...one, show: (value) => showIn(control, value, member.unset) };
}

export function textControl(member, change, more = {}) {
  const control = make(more.rows ? "textarea" : "input", { type: more.rows ? null : "text", rows: more.rows, maxlength: more.longest, autocomplete: "off", "data-name": member.name });
  control.readNow = () => control.value || undefined;
  control.addEventListener("input", () => change(control.value || undefined));
  const one = field(member.label, control, { class: "ds-full" });
  return { ...one, show: (value) => showIn(control, value, member.unset || "") };
}

export function selectControl(label, name, options, change, more = {}) {
  const control = make("select", { "data-name": name }, ...options.map(([value, text]) => make("option", { value }, text)));
  control.addEventListener("change", () => change(control.value || undefined));
  const one = field(label, control, more);
  return {
    ...one,
    show(value) {
      const text = shownText(value);
      if (![...control.options].some((option) => option.value === text)) control.append(make("option", { value: text }, text));
      control.value = text;
      if (value === MIXED) control.selectedIndex = -1;
    },
  };
}

export function flagControl(member, change) {
  const control = make("input", { type: "checkbox", "data-name": member.name, onchange: () => change(control.checked || undefined) });
  const one = field(member.label, control, { class: "ds-flag" });
  return { ...one, show: (value) => Object.assign(control, { checked: value === true, indeterminate: value === MIXED }) };
}

// A few choices beside each other, with signs where there are some.
export function choiceControl(member, change) {
  const name = freshId("choice");
  const choices = member.choices.map((choice) => [choice, ...(CHOICES[choice] ?? [choice])]);
  const radios = choices.map(([choice, word]) => make("input", { type: "radio", name, value: choice, "aria-label": word, "data-name": `${member.name}:${choice}`, onchange: () => change(choice === member.unset ? undefined : choice) }));
  const labels = radios.map((radio, at) => {
    const [, word, symbol] = choices[at];
    return make("label", { class: "ds-segment", title: word }, radio, symbol ? icon(symbol) : make("span", {}, word));
  });
  const title = make("span", { class: "console-label", id: freshId("title") }, member.label);
  const error = make("p", { class: "console-error", hidden: true });
  const segments = make("div", { class: "ds-segments", role: "radiogroup", "aria-labelledby": title.id }, ...labels);
  return {
    element: make("div", { class: "ds-field ds-wide" }, title, segments, error),
    showErrors(errors) {
      error.hidden = errors.length === 0;
      error.textContent = errors.join(" ");
    },
    show(value) {
      for (const radio of radios) radio.checked = value !== MIXED && radio.value === (value ?? member.unset);
    },
  };
}
