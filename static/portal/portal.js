// What makes pages handier where JavaScript runs; every one of them works without.

// On a narrow screen the tab or menu entry of this page may lie outside of its row. Not by scrollIntoView: the tab key
// would go on from there and pass over the link to the content.
for (const here of document.querySelectorAll(".nav a[aria-current], .tabs ul a[aria-current]")) {
  const row = here.closest(".nav, .tabs ul");
  const [inner, outer] = [here.getBoundingClientRect(), row.getBoundingClientRect()];
  row.scrollLeft += inner.left - outer.left - (outer.width - inner.width) / 2;
}

// Copy buttons: shown only where they can work; each names the element whose text it copies.
(() => {
  if (!navigator.clipboard) return;
  const said = document.createElement("p");
  said.className = "visually-hidden";
  said.setAttribute("role", "status");
  document.querySelector("main").append(said);

  for (const button of document.querySelectorAll("button[data-copy]")) button.hidden = false;
  // By delegation: pages replace their examples, and the buttons with them.
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("button[data-copy]");
    if (!button || button.dataset.label) return;
    button.dataset.label = button.textContent;
    const source = document.getElementById(button.dataset.copy);
    try {
      await navigator.clipboard.writeText(source.textContent);
      button.textContent = gettext("Copied");
      said.textContent = gettext("Copied");
    } catch {
      getSelection().selectAllChildren(source);
      said.textContent = gettext("Selected; copy it with your keyboard");
    }
    setTimeout(() => {
      button.textContent = button.dataset.label;
      delete button.dataset.label;
      said.textContent = "";
    }, 1600);
  });
})();

// The language of examples is remembered for all pages.
(() => {
  const NAME = "example-language";
  const kept = (value) => (value === "typescript" ? "javascript" : value);
  const read = () => { try { return localStorage.getItem(NAME); } catch { return null; } };
  const keep = (value) => { try { localStorage.setItem(NAME, value); } catch { /* a private window */ } };
  for (const choice of document.querySelectorAll("input[name=language]")) {
    if (kept(choice.value) === read()) choice.checked = true;
    choice.addEventListener("change", () => keep(kept(choice.value)));
  }
})();
