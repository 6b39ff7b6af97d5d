// Looks again while something is under way: replaces the part of the page that says how it goes.
(() => {
  // What is being typed, or has the focus in a table, stays.
  const isInUse = (part) => part.contains(document.activeElement) && document.activeElement.matches("input, .grid-cell");
  const look = async (part) => {
    if (isInUse(part)) return wait(part);
    try {
      const answer = await fetch(location.href);
      // Busy, or between two releases: the next look may find it.
      if (!answer.ok) return wait(part);
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const anew = page.getElementById(part.id);
      if (!anew) return;
      if (isInUse(part)) return wait(part);
      part.replaceChildren(...anew.childNodes);
      if (anew.dataset.refresh) wait(part);
    } catch {
      wait(part);
    }
  };
  const wait = (part) => setTimeout(look, Number(part.dataset.refresh), part);

  for (const part of document.querySelectorAll("[data-refresh]")) wait(part);
})();
