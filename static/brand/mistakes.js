// English without the catalog of the page's language, which comes before.
globalThis.gettext ??= (text) => text;
globalThis.ngettext ??= (one, many, count) => (count === 1 ? one : many);
globalThis.interpolate ??= (text, values) => text.replace(/%(?:\((\w+)\))?s/g, (_, name) => values[name ?? 0]);

// The server names all mistakes at once, so the browser's own bubbles are off. Work goes on at the first wrong field.
(() => {
  for (const form of document.querySelectorAll("form[method=post]")) form.noValidate = true;
  const goTo = (field) => {
    field.closest("details")?.setAttribute("open", "");
    field.focus({ preventScroll: true });
    field.scrollIntoView({ block: "center" });
  };
  const first = (part) => [...part.querySelectorAll("[aria-invalid=true]")].find((one) => one.checkVisibility());
  const wrong = first(document.querySelector("main"));
  if (wrong) goTo(wrong);
  document.addEventListener("click", (event) => {
    const link = event.target.closest("[data-mistakes] a");
    const field = link && document.getElementById(link.hash.slice(1));
    if (!field) return;
    event.preventDefault();
    goTo(field.matches("input, select, textarea") ? field : first(field) ?? field);
  });
})();
