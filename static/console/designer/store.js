// The one state of the designer. What changes the draft is a command and can be undone; the rest is set.

const KEY = Symbol("box");
const DEPTH = 200;
let keys = 0;

export const keyOf = (box) => box[KEY];
export const withKey = (box) => ({ ...box, [KEY]: (keys += 1) });
// A box keeps its key through changes: a spread copies it, JSON leaves it out.
export const keyed = (draft) => ({
  ...draft,
  Pages: draft.Pages.map((page) => ({ ...page, Boxes: (page.Boxes || []).map((box) => (box[KEY] ? box : withKey(box))) })),
});

export function makeStore(state) {
  const listeners = new Set();
  const done = [];
  const undone = [];
  let merged = null;
  let current = { ...state, draft: keyed(state.draft), selection: [], hidden: new Set() };
  let saved = current.draft;

  const notify = (before) => {
    for (const listener of listeners) listener(current, before);
  };
  const change = (values) => {
    const before = current;
    current = { ...current, ...values };
    notify(before);
  };
  // Of a draft from the history: a page or a box that it has not is not open or selected.
  const restored = ({ draft, page, selection }) => {
    const open = Math.min(page, draft.Pages.length - 1);
    const there = new Set(draft.Pages[open].Boxes.map(keyOf));
    return { draft, page: open, selection: selection.filter((key) => there.has(key)) };
  };
  const step = (from, to) => {
    const next = from.pop();
    if (!next) return null;
    to.push({ label: next.label, draft: current.draft, page: current.page, selection: current.selection });
    merged = null;
    change(restored(next));
    return next.label;
  };

  return {
    get state() {
      return current;
    },
    get isChanged() {
      return current.draft !== saved;
    },
    get canUndo() {
      return done.length > 0;
    },
    get canRedo() {
      return undone.length > 0;
    },
    // `more.merge` names what goes on, such as one drag: all of it is one step back.
    run(label, makeDraft, more = {}) {
      const draft = makeDraft(current.draft);
      const { merge = null, ...values } = more;
      if (draft === current.draft) return;
      if (!merge || merge !== merged) {
        done.push({ label, draft: current.draft, page: current.page, selection: current.selection });
        if (done.length > DEPTH) done.shift();
      }
      undone.length = 0;
      merged = merge;
      change({ ...values, draft: keyed(draft) });
    },
    // The next change of the same kind is a step of its own.
    endMerge() {
      merged = null;
    },
    set: change,
    undo: () => step(done, undone),
    redo: () => step(undone, done),
    markSaved(draft) {
      saved = draft;
      notify(current);
    },
    subscribe(listener) {
      listeners.add(listener);
    },
  };
}

// Of the product, and those it gets with the next save.
export function fieldsOf({ fields, draft }) {
  const known = new Set(fields.map((field) => field.name));
  const fresh = (draft.NewFields || []).filter((entry) => !known.has(entry.FieldName));
  return [
    ...fields,
    ...fresh.map((entry) => ({
      name: entry.FieldName, prompt: entry.Prompt || entry.FieldName, type: entry.Type, subType: entry.SubType,
      required: entry.Required, choices: entry.Choices || [],
    })),
  ];
}
export const openPage = (state) => state.draft.Pages[state.page];
export const boxesOf = (state) => openPage(state).Boxes;
export const selectedBoxes = (state) => boxesOf(state).filter((box) => state.selection.includes(keyOf(box)));
export const titleOf = (box) => box.Name || box.Field || String(box.Text || "").slice(0, 30) || gettext("empty");
