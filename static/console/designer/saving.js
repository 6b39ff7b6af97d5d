// Saving, conflicts with another user's save, and the list of keys.

import { make } from "./dom.js";
import { KEYS } from "./keys.js";
import { fieldsOf } from "./store.js";

export function makeSaving({ store, server, data, say }) {
  const words = make("p", {});
  const over = make("button", { type: "button", class: "console-button console-danger", onclick: () => close(() => save("save-over")) });
  const look = make("a", { class: "console-button", target: "_blank", rel: "noopener", href: data.addresses.template_versions }, gettext("Compare the versions in a new tab"));
  const conflict = make(
    "dialog",
    { class: "ds-dialog", "aria-labelledby": "ds-conflict-title" },
    make("h2", { id: "ds-conflict-title" }, gettext("Another user saved this product")),
    words,
    make("p", {}, gettext("Your work is still here, unsaved.")),
    make("div", { class: "console-actions" }, make("button", { type: "button", class: "console-button console-primary", autofocus: true, onclick: () => close() }, gettext("Keep working")), look, over),
  );
  const keys = make(
    "dialog",
    { class: "ds-dialog", "aria-labelledby": "ds-keys-title" },
    make("h2", { id: "ds-keys-title" }, gettext("Keyboard")),
    make("dl", { class: "ds-keys" }, ...KEYS.flatMap(([key, what]) => [make("dt", {}, make("kbd", {}, key)), make("dd", {}, what)])),
    make("button", { type: "button", class: "console-button", autofocus: true, onclick: () => keys.close() }, gettext("Close")),
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
        over.textContent = interpolate(gettext("Save mine over version %s"), [answer.newest]);
        conflict.showModal();
      } else {
        store.set({ faults: answer.faults });
        const count = answer.faults.length;
        const words = ngettext("Not saved: %(count)s problem to fix. %(first)s", "Not saved: %(count)s problems to fix. %(first)s", count);
        say(interpolate(words, { count, first: answer.faults[0].message }, true));
      }
    } catch (error) {
      say(interpolate(gettext("Not saved: %s. Your work is still here."), [error.message]));
    } finally {
      if (store.state.isSaving) store.set({ isSaving: false });
    }
  }

  window.addEventListener("beforeunload", (event) => {
    if (store.isChanged) event.preventDefault();
  });
  return { dialogs: [conflict, keys], save: () => save(), help: () => keys.showModal() };
}
