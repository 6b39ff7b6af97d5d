"use strict";

// Runs before the page is drawn, which does not wait for Alpine: the scheme and the side bar as they were chosen.
(() => {
  const root = document.documentElement;
  const chosen = (name) => {
    try {
      return localStorage.getItem(name);
    } catch {
      return null;
    }
  };
  // As Alpine's `persist` keeps it: JSON.
  const scheme = chosen("adminTheme");
  const isDark = scheme === '"dark"' || (scheme !== '"light"' && matchMedia("(prefers-color-scheme: dark)").matches);
  root.classList.toggle("dark", isDark);
  // Alpine adds it again, and later removes only what it added itself.
  document.addEventListener("alpine:init", () => root.classList.remove("dark"));
  if (chosen("sidebarDesktopOpen") === "0") root.dataset.bar = "closed";
})();
