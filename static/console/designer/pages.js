// Pages of the template as tabs that open them, and what is wrong in any of them.

import { make, tool } from "./dom.js";

export function makePages({ store, data, actions, canvas }) {
  const tabs = make("div", { class: "ds-pages" });
  const bar = make(
    "nav",
    { class: "ds-page-bar", "aria-label": gettext("Pages of the template") },
    tabs,
    tool(gettext("Add a page"), "add", () => store.state.draft.Pages.length < data.limits.pages && actions.addPage()),
  );
  const earlier = tool(gettext("Move the page earlier"), "chevron_left", () => actions.movePage(-1));
  const later = tool(gettext("Move the page later"), "chevron_right", () => actions.movePage(1));
  const gone = tool(gettext("Remove the page"), "delete", actions.removePage);
  bar.append(earlier, later, gone);
  const faults = make("div", { class: "ds-faults", role: "status", "aria-label": gettext("Problems") });
  let shown = "";
  let listed = "";

  function renderTabs(state) {
    const wrong = new Set(state.faults.map((fault) => Number((/^\/Pages\/(\d+)/.exec(fault.pointer) || [])[1])));
    const now = JSON.stringify([state.draft.Pages.length, state.page, [...wrong]]);
    if (now === shown) return;
    shown = now;
    const focused = tabs.contains(document.activeElement);
    tabs.replaceChildren(
      ...state.draft.Pages.map((_, number) =>
        make(
          "button",
          { type: "button", class: "ds-page", "aria-current": number === state.page ? "page" : null, onclick: () => actions.openPage(number) },
          interpolate(gettext("Page %s"), [number + 1]),
          wrong.has(number) ? make("span", { class: "te-wrong" }, " ", gettext("needs attention")) : null,
        ),
      ),
    );
    if (focused) tabs.children[state.page].focus();
    earlier.disabled = state.page === 0;
    later.disabled = state.page === state.draft.Pages.length - 1;
    gone.disabled = state.draft.Pages.length === 1;
  }

  // A problem leads to what it is about.
  function lead(fault) {
    const [, page, box, member] = /^\/Pages\/(\d+)(?:\/Boxes\/(\d+))?(?:\/(\w+))?/.exec(fault.pointer) || [];
    if (page !== undefined) {
      actions.openPage(Number(page));
      if (box !== undefined) actions.selectPlace(Number(box));
      document.dispatchEvent(new CustomEvent("designer:panel", { detail: "design" }));
      document.querySelector(`.ds-right [data-name="${member}"]`)?.focus();
    } else if (fault.pointer.startsWith("/Samples/")) {
      document.dispatchEvent(new CustomEvent("designer:panel", { detail: "data" }));
      document.querySelector(`.ds [data-name="${CSS.escape(`sample:${fault.pointer.slice(9)}`)}"]`)?.focus();
    }
    if (box !== undefined) canvas.scrollTo(store.state.selection[0]);
  }

  function renderFaults({ faults: found }) {
    const now = JSON.stringify(found);
    if (now === listed) return;
    listed = now;
    faults.replaceChildren();
    if (found.length === 0) return;
    faults.append(
      make(
        "details",
        { class: "console-alert console-wrong", open: window.innerWidth > 900 },
        make("summary", {}, interpolate(ngettext("%s problem to fix", "%s problems to fix", found.length), [found.length])),
        make("ul", {}, ...found.map((fault) => make("li", {}, make("button", { type: "button", class: "ds-lead", onclick: () => lead(fault) }, fault.place ? `${fault.place}: ` : "", fault.message)))),
      ),
    );
  }

  function render(state) {
    renderTabs(state);
    renderFaults(state);
  }
  store.subscribe(render);
  return { bar, faults, render };
}
