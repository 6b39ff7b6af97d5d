// Pictures of the template: backgrounds, and the gallery customers choose from.

import { make } from "./dom.js";
import { selectControl, field } from "./controls.js";
import { changePage } from "./commands.js";

export function makePictures({ store, server, say }) {
  const list = make("ul", { class: "te-pictures" });
  const file = make("input", { type: "file", accept: ".svg,.png,.jpg,.jpeg,.pdf" });
  const fileField = field("SVG, PNG, JPEG or PDF", file, { class: "ds-full" });
  const use = selectControl("Use it as", "picture-use", [
    ["", "Background if it has the page's shape, else a picture"],
    ["background", "Background of this page"],
    ["gallery", "Picture of the gallery"],
  ], () => {}, { class: "ds-full" });
  const pending = make("div", { class: "console-alert console-wrong", role: "alert", hidden: true });
  const section = make(
    "section",
    { class: "ds-part", "aria-labelledby": "ds-pictures-title" },
    make("h2", { id: "ds-pictures-title" }, "Pictures"),
    list,
    make("div", { class: "ds-controls" }, fileField.element, use.element),
    pending,
  );

  // The server's draft has the same boxes; only pictures and the page's background are taken over.
  function take({ draft, faults, pending: waiting }) {
    fileField.showErrors(faults.map((fault) => fault.message));
    const { page } = store.state;
    const { Background } = draft.Pages[page];
    const before = store.state.draft;
    const isNew = ["Artwork", "Gallery"].some((part) => JSON.stringify(draft[part]) !== JSON.stringify(before[part])) || before.Pages[page].Background !== Background;
    if (isNew) {
      store.run("Add a picture", (old) => {
        const pages = changePage(old, page, ({ Background: _, ...rest }) => (Background ? { ...rest, Background } : rest));
        return { ...pages, Artwork: draft.Artwork, Gallery: draft.Gallery };
      });
    }
    offer(waiting && waiting.message ? waiting : null);
  }

  function offer(waiting) {
    pending.hidden = !waiting;
    pending.replaceChildren();
    if (!waiting) return;
    const decide = (button) => press(button, { "pending-name": waiting.name, "pending-digest": waiting.digest });
    const button = (text, value, more = "") => make("button", { type: "button", class: `console-button console-small ${more}`, onclick: () => decide(value) }, text);
    const fitting = waiting.is_reshapable ? [button("Crop to the page", "crop-background", "console-primary"), button("Fit with white margins", "fit-background")] : [];
    pending.append(
      make("p", {}, waiting.message),
      make("div", { class: "console-actions" }, ...fitting, button("Keep it in the gallery", "keep-as-picture"), make("button", { type: "button", class: "console-button console-small", onclick: () => offer(null) }, "Discard it")),
    );
  }

  async function press(button, values) {
    section.setAttribute("aria-busy", "true");
    try {
      take(await server.press(button, values));
    } catch (error) {
      say(`The picture was not taken: ${error.message}.`);
    } finally {
      section.removeAttribute("aria-busy");
    }
  }

  file.addEventListener("change", async () => {
    if (!file.files.length) return;
    await press("upload", { file: file.files[0], use: use.control.value });
    file.value = "";
  });

  const removal = (part, name) => () =>
    store.run("Remove a picture", (draft) => {
      const { [name]: _, ...others } = draft[part];
      return { ...draft, [part]: others };
    });

  function render({ draft }) {
    const row = (part, word) => (name) =>
      make("li", {}, make("span", {}, name), make("small", {}, word), make("button", { type: "button", class: "ds-mini", "aria-label": `Remove ${name}`, title: "Remove", onclick: removal(part, name) }, "×"));
    list.replaceChildren(...Object.keys(draft.Artwork).map(row("Artwork", "background")), ...Object.keys(draft.Gallery).map(row("Gallery", "gallery")));
    list.hidden = list.childElementCount === 0;
  }
  store.subscribe((state, before) => state.draft !== before.draft && render(state));
  return { section, render };
}
