// Sample data beside the canvas, and a field added right there.

import { field, selectControl } from "./controls.js";
import { make } from "./dom.js";
import { fieldsOf } from "./store.js";

export function makeSamples({ store, data, actions, server, say }) {
  const list = make("div", { class: "ds-controls" });
  const help = make("p", { class: "console-help" }, gettext("Fills the picture, the proof and the print file; it is not saved."));
  const title = make("h2", { id: "ds-samples-title" }, gettext("Sample data"));
  let controls = [];
  let signature = "";

  function control(one) {
    const name = `sample:${one.name}`;
    const label = one.required ? one.prompt : interpolate(gettext("%s (optional)"), [one.prompt]);
    const change = (value) => store.set({ samples: { ...store.state.samples, [one.name]: value ?? "" } });
    const choices = one.subType === "Gallery" ? Object.keys(store.state.draft.Gallery) : one.choices;
    if (one.subType === "Gallery" || one.type === "Choice") return selectControl(label, name, [["", "—"], ...choices.map((choice) => [choice, choice])], change, { class: "ds-full" });
    const input = make(one.subType === "MultiLine" ? "textarea" : "input", { type: one.subType === "MultiLine" ? null : "text", rows: one.subType === "MultiLine" ? 2 : null, autocomplete: "off", "data-name": name });
    input.addEventListener("input", () => change(input.value));
    return {
      ...field(label, input, { class: "ds-full" }),
      show: (value) => {
        if (input.value !== value) input.value = value ?? "";
      },
    };
  }

  // --- a new field ----------------------------------------------------------------------------------------------

  const name = make("input", { type: "text", autocomplete: "off", maxlength: 64, "data-name": "new-field-name" });
  const nameField = field(gettext("Name"), name, { class: "ds-full" });
  const choices = make("textarea", { rows: 3, "data-name": "new-field-choices" });
  const choicesField = field(gettext("Choices, one a line"), choices, { class: "ds-full" });
  const type = selectControl(gettext("Type"), "new-field-type", data.fieldTypes, (value) => (choicesField.element.hidden = !isList(value)), { class: "ds-full" });
  const required = make("input", { type: "checkbox", "data-name": "new-field-required" });
  const requiredField = field(gettext("Required"), required, { class: "ds-flag" });
  const isList = (value) => String(value).startsWith("Choice");
  choicesField.element.hidden = true;
  const form = make(
    "form",
    { class: "ds-controls", novalidate: true, onsubmit: addField },
    nameField.element, type.element, choicesField.element, requiredField.element,
    make("div", { class: "console-actions ds-full" }, make("button", { class: "console-button console-small console-primary" }, gettext("Add the field and a box"))),
  );
  const details = make("details", { class: "ds-new" }, make("summary", {}, gettext("Add a field")), form);
  details.addEventListener("toggle", () => details.open && name.focus());

  async function addField(event) {
    event.preventDefault();
    const values = { "new-field-name": name.value, "new-field-type": type.control.value, "new-field-choices": isList(type.control.value) ? choices.value : "" };
    if (required.checked) values["new-field-required"] = "on";
    try {
      const answer = await server.press("add-field", values);
      if (answer.faults.length) {
        const of = (member) => answer.faults.filter((fault) => fault.pointer.endsWith(member)).map((fault) => fault.message);
        nameField.showErrors([...of("/FieldName"), ...answer.faults.filter((one) => !/\/(FieldName|Choices)$/.test(one.pointer)).map((one) => one.message)]);
        choicesField.showErrors(of("/Choices"));
        name.focus();
        return;
      }
      nameField.showErrors([]);
      choicesField.showErrors([]);
      take(answer.draft.NewFields.at(-1), answer.samples);
      form.reset();
      choicesField.element.hidden = true;
      details.open = false;
    } catch (error) {
      say(interpolate(gettext("The field was not added: %s."), [error.message]));
    }
  }

  function take(entry, samples) {
    store.run(gettext("Add a field"), (draft) => ({ ...draft, NewFields: [...draft.NewFields, entry] }), { samples: { ...samples, ...store.state.samples } });
    actions.addBox(entry.Type === "Image" ? "Image" : "Text", entry.FieldName);
    say(interpolate(gettext("Field %s added; the product has it when you save."), [entry.FieldName]));
  }

  const section = make("section", { class: "ds-part", "aria-labelledby": "ds-samples-title" }, title, help, list, details);

  function render(state) {
    const now = JSON.stringify([fieldsOf(state), Object.keys(state.draft.Gallery)]);
    if (now !== signature) {
      signature = now;
      controls = fieldsOf(state).map((one) => ({ name: one.name, ...control(one) }));
      list.replaceChildren(...controls.map((one) => one.element));
    }
    for (const one of controls) {
      one.show(state.samples[one.name] ?? "");
      one.showErrors(state.faults.filter((fault) => fault.pointer === `/Samples/${one.name}`).map((fault) => fault.message));
    }
  }
  store.subscribe((state) => render(state));
  return { section, render };
}
