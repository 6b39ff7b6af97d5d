"use strict";

// Polls the progress of an import twice a second, and shows its report at the end.
(() => {
  const place = document.querySelector("[data-progress-url]");
  if (!place) return;
  const bar = place.querySelector("progress");
  const text = place.querySelector("[role=status]");

  async function poll() {
    try {
      const response = await fetch(place.dataset.progressUrl, { headers: { Accept: "application/json" } });
      if (!response.ok) throw new Error(response.statusText);
      const shown = await response.json();
      bar.value = shown.percent;
      text.textContent = shown.text;
      if (!shown.is_under_way) {
        window.location.reload();
        return;
      }
      window.setTimeout(poll, 500);
    } catch {
      text.textContent = gettext("The service does not answer; trying again.");
      window.setTimeout(poll, 3000);
    }
  }

  poll();
})();
