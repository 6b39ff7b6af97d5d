// The families, each shown in its own letters as the typesetter draws them.

import { freshId, make } from "./dom.js";
import { MIXED } from "./controls.js";

export function fontControl(member, families, change, server) {
  const name = freshId("font");
  const title = make("span", { class: "console-label", id: freshId("title") }, member.label);
  const error = make("p", { class: "console-error", hidden: true });
  const current = make("span", {});
  const list = make("div", { class: "ds-font-list", role: "radiogroup", "aria-labelledby": title.id });
  const details = make("details", { class: "ds-fonts" }, make("summary", { "data-name": "Font:open" }, current), list);
  let chosen;

  // The specimens are drawn when they are opened.
  details.addEventListener("toggle", () => {
    if (!details.open || list.childElementCount) return;
    list.append(
      ...families.map((family) =>
        make(
          "label",
          { class: "ds-font" },
          make("input", { type: "radio", name, value: family, "data-name": `Font:${family}`, onchange: () => change(family === member.unset ? undefined : family) }),
          make("img", { src: server.specimen(family), alt: family, width: 165, height: 30, loading: "lazy", "data-retry": "" }),
        ),
      ),
    );
    mark();
  });
  list.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" && event.key !== "Enter") return;
    event.preventDefault();
    event.stopPropagation();
    details.open = false;
    details.firstChild.focus();
  });

  function mark() {
    for (const radio of list.querySelectorAll("input")) radio.checked = chosen !== MIXED && radio.value === (chosen ?? member.unset);
  }

  return {
    element: make("div", { class: "ds-field ds-full" }, title, details, error),
    showErrors(errors) {
      error.hidden = errors.length === 0;
      error.textContent = errors.join(" ");
    },
    show(value) {
      chosen = value;
      current.textContent = value === MIXED ? gettext("several") : value ?? member.unset;
      mark();
    },
  };
}
