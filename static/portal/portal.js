// What makes pages handier where JavaScript runs; every one of them works without.

// On a narrow screen the tab of this page may lie outside of its row.
document.querySelector(".tabs a[aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });

// Copy buttons: shown only where they can work; each names the element whose text it copies.
(() => {
  if (!navigator.clipboard) return;
  const said = document.createElement("p");
  said.className = "visually-hidden";
  said.setAttribute("role", "status");
  document.querySelector("main").append(said);

  for (const button of document.querySelectorAll("button[data-copy]")) {
    const label = button.textContent;
    button.hidden = false;
    button.addEventListener("click", async () => {
      const source = document.getElementById(button.dataset.copy);
      try {
        await navigator.clipboard.writeText(source.textContent);
        button.textContent = "Copied";
        said.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(source);
        said.textContent = "Selected; copy it with your keyboard";
      }
      setTimeout(() => {
        button.textContent = label;
        said.textContent = "";
      }, 1600);
    });
  }
})();
