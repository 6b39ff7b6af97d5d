// Each makes the next draft of one; none knows the page's elements.

import { boundsOf, numeric, placeOf, round, unionOf } from "./geometry.js";
import { keyOf, withKey } from "./store.js";

const OFFSET = 3;

export const changePage = (draft, at, change) => ({
  ...draft,
  Pages: draft.Pages.map((page, number) => (number === at ? change(page) : page)),
});
const changeBoxes = (draft, at, change) => changePage(draft, at, (page) => ({ ...page, Boxes: change(page.Boxes) }));

// A member left empty is left out: the server's default counts.
export function withMembers(box, values) {
  const changed = { ...box, ...values };
  for (const [name, value] of Object.entries(values)) if (value === undefined || value === "" || value === false) delete changed[name];
  return changed;
}

export const patch = (draft, at, keys, change) =>
  changeBoxes(draft, at, (boxes) => boxes.map((box) => (keys.includes(keyOf(box)) ? withMembers(box, change(box)) : box)));

export function move(draft, at, keys, across, down) {
  return patch(draft, at, keys, (box) => {
    const { X, Y } = placeOf(box);
    return { X: round(X + across), Y: round(Y + down) };
  });
}

export function add(draft, at, boxes) {
  return changeBoxes(draft, at, (before) => [...before, ...boxes]);
}

// Beside what was copied, and right in front of it.
export function duplicates(boxes) {
  return boxes.map((box) => {
    const { X, Y } = placeOf(box);
    return withKey({ ...structuredClone({ ...box }), X: round(X + OFFSET), Y: round(Y + OFFSET) });
  });
}

export const remove = (draft, at, keys) => changeBoxes(draft, at, (boxes) => boxes.filter((box) => !keys.includes(keyOf(box))));

// `to`: front, back, forward or backward.
export function reorder(draft, at, keys, to) {
  return changeBoxes(draft, at, (boxes) => {
    const chosen = boxes.filter((box) => keys.includes(keyOf(box)));
    const others = boxes.filter((box) => !keys.includes(keyOf(box)));
    if (to === "front") return [...others, ...chosen];
    if (to === "back") return [...chosen, ...others];
    const places = boxes.map((box, place) => (keys.includes(keyOf(box)) ? place : -1)).filter((place) => place >= 0);
    const first = to === "forward" ? Math.max(...places) + 2 - chosen.length : Math.min(...places) - 1;
    const start = Math.max(0, Math.min(others.length, first));
    return [...others.slice(0, start), ...chosen, ...others.slice(start)];
  });
}

// One box to a place among all, counted from the back.
export function place(draft, at, key, to) {
  return changeBoxes(draft, at, (boxes) => {
    const one = boxes.find((box) => keyOf(box) === key);
    const others = boxes.filter((box) => box !== one);
    others.splice(Math.max(0, Math.min(others.length, to)), 0, one);
    return others;
  });
}

// Several boxes to a common edge or middle, a single one to that of the page.
export function align(draft, at, keys, edge) {
  const page = draft.Pages[at];
  const chosen = page.Boxes.filter((box) => keys.includes(keyOf(box)));
  const whole = { left: 0, top: 0, right: numeric(page.WidthMM), bottom: numeric(page.HeightMM) };
  const frame = chosen.length > 1 ? unionOf(chosen) : whole;
  return patch(draft, at, keys, (box) => {
    const { left, top, right, bottom } = boundsOf(box);
    const { X, Y } = placeOf(box);
    if (edge === "center") return { X: round(X + (frame.left + frame.right - left - right) / 2) };
    if (edge === "middle") return { Y: round(Y + (frame.top + frame.bottom - top - bottom) / 2) };
    if (edge === "left") return { X: round(X + frame.left - left) };
    if (edge === "right") return { X: round(X + frame.right - right) };
    if (edge === "top") return { Y: round(Y + frame.top - top) };
    return { Y: round(Y + frame.bottom - bottom) };
  });
}

// The same space between each two neighbours, across or down; the outer ones stay.
export function distribute(draft, at, keys, axis) {
  const [first, last, member] = axis === "across" ? ["left", "right", "X"] : ["top", "bottom", "Y"];
  const chosen = draft.Pages[at].Boxes.filter((box) => keys.includes(keyOf(box)));
  const ordered = chosen.map((box) => ({ key: keyOf(box), bounds: boundsOf(box) })).sort((a, b) => a.bounds[first] - b.bounds[first]);
  const sizes = ordered.map(({ bounds }) => bounds[last] - bounds[first]);
  const whole = Math.max(...ordered.map(({ bounds }) => bounds[last])) - ordered[0].bounds[first];
  const gap = (whole - sizes.reduce((sum, size) => sum + size, 0)) / (ordered.length - 1);
  const starts = new Map();
  let start = ordered[0].bounds[first];
  ordered.forEach(({ key, bounds }, number) => {
    starts.set(key, start - bounds[first]);
    start += sizes[number] + gap;
  });
  return patch(draft, at, keys, (box) => ({ [member]: round(placeOf(box)[member] + starts.get(keyOf(box))) }));
}

export function addPage(draft, at) {
  const { Boxes, Background, ...size } = draft.Pages[at];
  return { ...draft, Pages: [...draft.Pages.slice(0, at + 1), { ...size, Boxes: [] }, ...draft.Pages.slice(at + 1)] };
}

export const removePage = (draft, at) => ({ ...draft, Pages: draft.Pages.filter((_, number) => number !== at) });

export function movePage(draft, at, by) {
  const pages = [...draft.Pages];
  pages.splice(at + by, 0, ...pages.splice(at, 1));
  return { ...draft, Pages: pages };
}
