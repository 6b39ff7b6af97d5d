// Pictures of the template: backgrounds, and the gallery customers choose from. While a picture box is selected, an upload
// goes into it, as the sample of its field.

import { make } from "./dom.js";
import { selectControl, field } from "./controls.js";
import { changePage } from "./commands.js";
import { selectedBoxes, titleOf } from "./store.js";

export function makePictures({ store, server, say }) {
  const list = make("ul", { class: "te-pictures" });
  const file = make("input", { type: "file", accept: ".svg,.png,.jpg,.jpeg,.pdf" });
  const fileField = field(gettext("SVG, PNG, JPEG or PDF"), file, { class: "ds-full" });
  const use = selectControl(gettext("Use it as"), "picture-use", [
    ["", gettext("What fits its shape")],
    ["background", gettext("Background of this page")],
    ["gallery", gettext("Picture of the gallery")],
  ], () => {}, { class: "ds-full" });
  const target = make("p", { class: "console-help ds-full", hidden: true });
  const taken = make("div", { class: "ds-taken", role: "status" });
  const pending = make("div", { class: "console-alert console-wrong", role: "alert", hidden: true });
  const section = make(
    "section",
    { class: "ds-part", "aria-labelledby": "ds-pictures-title" },
    make("h2", { id: "ds-pictures-title" }, gettext("Pictures")),
    list,
    make("div", { class: "ds-controls" }, fileField.element, target, use.element),
    taken,
    pending,
  );

  function boxOfPicture() {
    const [box, ...others] = selectedBoxes(store.state);
    return box?.Kind === "Image" && box.Field && others.length === 0 ? box : null;
  }

  // As a data address: the page's policy allows no other picture that is not the server's.
  const addressOf = (picture) => new Promise((read) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => read(reader.result));
    reader.addEventListener("error", () => read(""));
    reader.readAsDataURL(picture);
  });

  async function upload(picture) {
    const box = boxOfPicture();
    const answer = await press("upload", { file: picture, use: box ? "gallery" : use.control.value });
    const name = answer?.taken?.name;
    if (name && box) store.set({ samples: { ...store.state.samples, [box.Field]: name } });
    if (!answer || answer.faults.length) return;
    const inBox = box && interpolate(gettext("%(picture)s is in the box %(box)s."), { picture: picture.name, box: titleOf(box) }, true);
    const asBackground = interpolate(gettext("%s is the background of this page."), [picture.name]);
    const words = name ? inBox || answer.taken.message : answer.pending?.message ? "" : asBackground;
    const address = picture.type.startsWith("image/") ? await addressOf(picture) : "";
    taken.replaceChildren(...(address ? [make("img", { src: address, alt: "", width: 56, height: 56 })] : []), make("p", {}, words));
  }

  // The server's draft has the same boxes; only pictures and the page's background are taken over.
  function take({ draft, faults, pending: waiting }) {
    fileField.showErrors(faults.map((fault) => fault.message));
    const { page } = store.state;
    const { Background } = draft.Pages[page];
    const before = store.state.draft;
    const isNew = ["Artwork", "Gallery"].some((part) => JSON.stringify(draft[part]) !== JSON.stringify(before[part])) || before.Pages[page].Background !== Background;
    if (isNew) {
      store.run(gettext("Add a picture"), (old) => {
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
    const fitting = waiting.is_reshapable ? [button(gettext("Crop to the page"), "crop-background", "console-primary"), button(gettext("Fit with white margins"), "fit-background")] : [];
    pending.append(
      make("p", {}, waiting.message),
      make("div", { class: "console-actions" }, ...fitting, button(gettext("Keep it in the gallery"), "keep-as-picture"), make("button", { type: "button", class: "console-button console-small", onclick: () => offer(null) }, gettext("Discard it"))),
    );
  }

  async function press(button, values) {
    section.setAttribute("aria-busy", "true");
    taken.replaceChildren();
    try {
      const answer = await server.press(button, values);
      take(answer);
      return answer;
    } catch (error) {
      say(interpolate(gettext("The picture was not taken: %s."), [error.message]));
      return null;
    } finally {
      section.removeAttribute("aria-busy");
    }
  }

  file.addEventListener("change", async () => {
    if (!file.files.length) return;
    await upload(file.files[0]);
    file.value = "";
  });

  const removal = (part, name) => () =>
    store.run(gettext("Remove a picture"), (draft) => {
      const { [name]: _, ...others } = draft[part];
      return { ...draft, [part]: others };
    });

  function render({ draft }) {
    const row = (part, word) => (name) =>
      make("li", {}, make("span", {}, name), make("small", {}, word), make("button", { type: "button", class: "ds-mini", "aria-label": interpolate(gettext("Remove %s"), [name]), title: gettext("Remove"), onclick: removal(part, name) }, "×"));
    list.replaceChildren(...Object.keys(draft.Artwork).map(row("Artwork", gettext("background"))), ...Object.keys(draft.Gallery).map(row("Gallery", gettext("gallery"))));
    list.hidden = list.childElementCount === 0;
  }
  function aim() {
    const box = boxOfPicture();
    target.hidden = !box;
    use.element.hidden = Boolean(box);
    target.textContent = box ? interpolate(gettext("Goes into the box %s."), [titleOf(box)]) : "";
  }
  store.subscribe((state, before) => {
    if (state.draft !== before.draft) render(state);
    aim();
  });
  return { section, render, choose: () => file.click() };
}
