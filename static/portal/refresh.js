// Looks again while something is under way: replaces the part of the page that says how it goes.
(() => {
  // What is being typed or sent stays.
  const isInUse = (part) =>
    (part.contains(document.activeElement) && document.activeElement.matches("input")) || part.querySelector(".grid-saving");
  const isInTable = (part) => part.contains(document.activeElement) && document.activeElement.matches(".grid-cell");

  // The focus and the place of what scrolls sideways stay, where they have an id.
  const put = (part, nodes) => {
    const focused = part.contains(document.activeElement) && document.activeElement.id;
    const scrolled = [...part.querySelectorAll("[role=region][id]")].map(({ id, scrollLeft }) => [id, scrollLeft]);
    const opened = [...part.querySelectorAll("details[id][open]")].map(({ id }) => id);
    part.replaceChildren(...nodes);
    for (const id of opened) document.getElementById(id)?.setAttribute("open", "");
    for (const [id, left] of scrolled) {
      const anew = document.getElementById(id);
      if (anew) anew.scrollLeft = left;
    }
    if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
  };

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
      const isOver = !anew.dataset.refresh;
      // Rows do not move away under the cell that has the focus.
      if (isInTable(part) && !isOver) {
        for (const live of part.querySelectorAll("[data-live]")) {
          const one = page.getElementById(live.id);
          if (one) live.replaceWith(one);
        }
      } else put(part, anew.childNodes);
      if (!isOver) wait(part);
    } catch {
      wait(part);
    }
  };
  const wait = (part) => setTimeout(look, Number(part.dataset.refresh), part);

  for (const part of document.querySelectorAll("[data-refresh]")) wait(part);
})();
