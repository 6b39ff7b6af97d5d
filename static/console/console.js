"use strict";

// What django-unfold writes as JavaScript inside of attributes and Alpine's CSP build cannot read, as components.
// Loaded after unfold's own app.js and before Alpine.
document.addEventListener("alpine:init", () => {
  Alpine.data("theme", theme);
  Alpine.data("searchForm", searchForm);

  Alpine.data("page", (firstTab) => ({
    activeTab: firstTab,
    sidebarMobileOpen: false,
    sidebarDesktopOpen: localStorage.getItem("sidebarDesktopOpen") !== "0",
    // Wrapped: what is a global itself is refused.
    moveRecords: (event) => moveRecords(event),
    sortRecords: (event) => sortRecords(event),
    init() {
      this.activeTab = firstTab ? getCurrentTab() || firstTab : "";
    },
    toggleSidebar() {
      this.sidebarDesktopOpen = !this.sidebarDesktopOpen;
      localStorage.setItem("sidebarDesktopOpen", this.sidebarDesktopOpen ? "1" : "0");
    },
    formAction() {
      const here = window.location.pathname + window.location.search;
      return this.activeTab && this.activeTab !== "general" ? `${here}#${this.activeTab}` : here;
    },
  }));
});

// Icons are words in a font of icons, which a screen reader would read out; what they mean stands beside them.
document.addEventListener("DOMContentLoaded", () => {
  for (const icon of document.querySelectorAll("span.material-symbols-outlined")) {
    const control = icon.closest("a, button");
    const says = control && (control.textContent.trim() !== icon.textContent.trim() || control.title || control.ariaLabel);
    // Unfold's menus have no name but their three dots.
    if (control && !says) control.setAttribute("aria-label", gettext("More"));
    icon.setAttribute("aria-hidden", "true");
  }
});

// On a narrow screen the tab of this page may lie outside of its row.
document.addEventListener("DOMContentLoaded", () => {
  const here = document.querySelector("#tabs-items [aria-current]");
  if (here) here.parentNode.scrollLeft = here.offsetLeft - (here.parentNode.clientWidth - here.offsetWidth) / 2;
});

// Escape closes what a button has opened; who was inside of it is at that button again.
(() => {
  const FADING = 350;
  let opener = null;
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[x-on\\:click]");
    if (button && button.matches("a, button")) opener = button;
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !opener) return;
    setTimeout(() => {
      const at = document.activeElement;
      const isLost = !at || at === document.body || !at.checkVisibility();
      if (isLost && opener.checkVisibility()) opener.focus();
    }, FADING);
  });
})();

// In place of unfold's own, which fails at a plain file input: only its widget has a box for the name of the file.
function fileInputUpdatePath() {
  document.addEventListener("change", (event) => {
    if (!event.target.matches("input[type=file]")) return;
    const around = event.target.parentNode.parentNode.parentNode;
    const name = around && around.querySelector("input[type=text]:disabled");
    if (name) name.setAttribute("value", event.target.files[0]?.name || "");
  });
}
// Copies the text of the element that a button names; without a clipboard there is no such button.
document.addEventListener("DOMContentLoaded", () => {
  if (!navigator.clipboard) return;
  for (const button of document.querySelectorAll("button[data-copy]")) button.hidden = false;
  // By delegation: pages replace their examples, and the buttons with them.
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("button[data-copy]");
    if (!button) return;
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).innerText);
    button.textContent = gettext("Copied");
  });
});
