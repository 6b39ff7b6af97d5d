// Shows the first cells of the column that is chosen for a field, below the choice, and which columns are not used.
document.addEventListener("change", ({ target }) => {
  const shown = document.getElementById(target.getAttribute("aria-describedby"));
  if (!shown?.matches(".columns-sample")) return;
  shown.textContent = target.selectedOptions[0].dataset.samples ?? "";
  target.closest("li").querySelector("[data-missing]")?.toggleAttribute("hidden", target.value !== "");

  const used = new Set([...document.querySelectorAll(".columns-choice select")].map(({ value }) => value));
  const left = [...target.options].filter(({ value }) => value && !used.has(value)).map(({ text }) => text);
  const unused = document.getElementById("unused");
  unused.hidden = !left.length;
  unused.querySelector("span").textContent = left.join(", ");
});

// A person or the browser may have chosen before this file was loaded.
for (const choice of document.querySelectorAll(".columns-choice select")) {
  choice.dispatchEvent(new Event("change", { bubbles: true }));
}
