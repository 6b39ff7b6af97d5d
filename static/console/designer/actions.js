// What buttons, keys and menus share.

import * as commands from "./commands.js";
import { numeric, round } from "./geometry.js";
import { MM_AT_100 } from "./canvas.js";
import { boxesOf, fieldsOf, keyOf, openPage, selectedBoxes, titleOf, withKey } from "./store.js";

export function makeActions({ store, canvas, data, say }) {
  const free = () => selectedBoxes(store.state).filter((box) => !box.Locked).map(keyOf);
  const change = (label, make) => {
    const keys = free();
    if (keys.length === 0) return;
    store.run(label, (draft) => make(draft, store.state.page, keys));
    say(`${label}.`);
  };
  const isFull = (more) => {
    const full = boxesOf(store.state).length + more > data.limits.boxes;
    if (full) say(interpolate(gettext("A page has at most %s boxes."), [data.limits.boxes]));
    return full;
  };
  const kindFits = (field, kind) => !data.fixedKinds.includes(kind) && (field.type === "Image") === (kind === "Image");

  // Where it is seen: in the middle of the page, each a little further.
  function placed(box) {
    const page = openPage(store.state);
    const offset = (boxesOf(store.state).length % 5) * 3;
    const middle = (length, size) => round(Math.max(0, Math.round((numeric(length) - size) / 2) + offset));
    const Width = Math.min(box.Width, numeric(page.WidthMM) || box.Width);
    return { ...box, Width, X: middle(page.WidthMM, Width), Y: middle(page.HeightMM, box.Height) };
  }

  function addBox(kind, field) {
    if (isFull(1)) return;
    const { Text, ...rest } = data.newBoxes[kind];
    const used = store.state.draft.Pages.flatMap((page) => page.Boxes.map((box) => box.Field));
    const fitting = fieldsOf(store.state).filter((one) => kindFits(one, kind));
    const shown = field || (kind === "Image" ? (fitting.find((one) => !used.includes(one.name)) || fitting[0])?.name : null);
    if (!shown && !Text) {
      say(gettext("A picture box shows a field of type picture: add that field first."));
      return;
    }
    const box = withKey(placed({ ...rest, ...(shown ? { Field: shown } : { Text }) }));
    store.run(gettext("Add a box"), (draft) => commands.add(draft, store.state.page, [box]), { selection: [keyOf(box)] });
    canvas.focus(keyOf(box));
    say(interpolate(gettext("%s added."), [titleOf(box)]));
  }

  function duplicate() {
    const chosen = selectedBoxes(store.state);
    if (chosen.length === 0 || isFull(chosen.length)) return;
    const copies = commands.duplicates(chosen);
    store.run(gettext("Duplicate"), (draft) => commands.add(draft, store.state.page, copies), { selection: copies.map(keyOf) });
    canvas.focus(keyOf(copies.at(-1)));
    say(gettext("Duplicated."));
  }

  function remove() {
    const keys = free();
    if (keys.length === 0) return;
    store.run(gettext("Delete"), (draft) => commands.remove(draft, store.state.page, keys), { selection: [] });
    canvas.viewport.focus({ preventScroll: true });
    say(interpolate(ngettext("%s box deleted.", "%s boxes deleted.", keys.length), [keys.length]));
  }

  const history = (step, words, none) => {
    const label = step();
    say(label ? interpolate(words, [label]) : none);
  };

  return {
    addBox, duplicate, remove, kindFits,
    undo: () => history(store.undo, gettext("Undone: %s."), gettext("Nothing to undo.")),
    redo: () => history(store.redo, gettext("Redone: %s."), gettext("Nothing to redo.")),
    align: (edge) => change(gettext("Aligned"), (draft, page, keys) => commands.align(draft, page, keys, edge)),
    distribute: (axis) => free().length > 2 && change(gettext("Distributed"), (draft, page, keys) => commands.distribute(draft, page, keys, axis)),
    reorder: (to) => change(gettext("Order changed"), (draft, page, keys) => commands.reorder(draft, page, keys, to)),
    zoomTo100: () => canvas.zoomTo(MM_AT_100),
    edit() {
      const [box] = selectedBoxes(store.state);
      if (!box) return;
      const name = box.Field ? `sample:${box.Field}` : "Text";
      document.dispatchEvent(new CustomEvent("designer:panel", { detail: box.Field ? "data" : "design" }));
      const input = document.querySelector(`.ds [data-name="${CSS.escape(name)}"]`);
      input?.focus();
      input?.select?.();
    },
    setMembers(label, values, merge) {
      const keys = selectedBoxes(store.state).map(keyOf);
      store.run(label, (draft) => commands.patch(draft, store.state.page, keys, () => values), { merge: merge && `${merge} ${keys}` });
    },
    setPage(label, values, merge) {
      const { page } = store.state;
      store.run(label, (draft) => commands.changePage(draft, page, (one) => commands.withMembers(one, values)), { merge: merge && `${merge} ${page}` });
    },
    openPage: (page) => store.set({ page, selection: [] }),
    addPage: () => store.run(gettext("Add a page"), (draft) => commands.addPage(draft, store.state.page), { page: store.state.page + 1, selection: [] }),
    removePage() {
      const { page, draft } = store.state;
      if (draft.Pages.length === 1) return;
      store.run(gettext("Remove the page"), () => commands.removePage(draft, page), { page: Math.min(page, draft.Pages.length - 2), selection: [] });
      say(gettext("The page is removed; Undo brings it back."));
    },
    movePage(by) {
      const { page, draft } = store.state;
      if (draft.Pages[page + by]) store.run(gettext("Move the page"), () => commands.movePage(draft, page, by), { page: page + by });
    },
  };
}
