// Saving, conflicts with another user's save, and the list of keys.

import { make } from "./dom.js";
import { KEYS } from "./keys.js";
import { fieldsOf } from "./store.js";

export function makeSaving({ store, server, data, say }) {
  const words = make("p", {});
  const over = make("button", { type: "button", class: "console-button console-danger", onclick: () => close(() => save("save-over")) });
  const look = make("a", { class: "console-button", target: "_blank", rel: "noopener", href: data.addresses.template_versions }, "Compare the versions in a new tab");
  const conflict = make(
    "dialog",
    { class: "ds-dialog", "aria-labelledby": "ds-conflict-title" },
    make("h2", { id: "ds-conflict-title" }, "Another user saved this product"),
    words,
    make("p", {}, "Your work is still here, unsaved."),
    make("div", { class: "console-actions" }, make("button", { type: "button", class: "console-button console-primary", autofocus: true, onclick: () => close() }, "Keep working"), look, over),
  );
  const keys = make(
    "dialog",
    { class: "ds-dialog", "aria-labelledby": "ds-keys-title" },
    make("h2", { id: "ds-keys-title" }, "Keyboard"),
    make("dl", { class: "ds-keys" }, ...KEYS.flatMap(([key, what]) => [make("dt", {}, make("kbd", {}, key)), make("dd", {}, what)])),
    make("button", { type: "button", class: "console-button", autofocus: true, onclick: () => keys.close() }, "Close"),
  );

  function close(then) {
    conflict.close();
    then?.();
  }

  async function save(button = "save") {
    if (store.state.isSaving) return;
    store.set({ isSaving: true });
    const { draft } = store.state;
    try {
      const answer = await server.press(button);
      if (answer.saved) {
        store.set({ version: answer.saved, isSaving: false, fields: fieldsOf({ ...store.state, draft }) });
        store.markSaved(draft);
        say(answer.message);
      } else if (answer.changed) {
        words.textContent = answer.changed;
        over.textContent = `Save mine over version ${answer.newest}`;
        conflict.showModal();
      } else {
        store.set({ faults: answer.faults });
        say(`Not saved: ${answer.faults.length} problem${answer.faults.length > 1 ? "s" : ""} to fix. ${answer.faults[0].message}`);
      }
    } catch (error) {
      say(`Not saved: ${error.message}. Your work is still here.`);
    } finally {
      if (store.state.isSaving) store.set({ isSaving: false });
    }
  }

  window.addEventListener("beforeunload", (event) => {
    if (store.isChanged) event.preventDefault();
  });
  return { dialogs: [conflict, keys], save: () => save(), help: () => keys.showModal() };
}
