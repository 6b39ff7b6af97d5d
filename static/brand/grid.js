// Cells of a table that are edited in place. Enter or a click opens a cell, Tab or Enter saves it, Escape restores it.
// Only its row is sent, and comes back checked. Without this script each row has a form of its own.
(() => {
  const part = document.getElementById("batch-live");
  const said = document.getElementById("grid-said");
  const token = () => document.querySelector("#check-again [name=csrfmiddlewaretoken]").value;
  const grid = () => document.querySelector("#grid[data-editable]");
  const rows = () => [...grid().querySelectorAll("tbody[data-save]")];
  const cells = (row) => [...row.querySelectorAll(".grid-cell")];

  const prepare = () => {
    const table = grid();
    if (!table) return;
    table.setAttribute("role", "grid");
    const stop = document.activeElement.closest("#grid .grid-cell") ?? table.querySelector(".grid-cell");
    if (stop) stop.tabIndex = 0;
  };

  const focusCell = (cell) => {
    for (const other of grid().querySelectorAll(".grid-cell[tabindex='0']")) other.tabIndex = -1;
    cell.tabIndex = 0;
    cell.focus();
  };

  const beside = (cell, across, down) => {
    const row = cell.closest("tbody");
    const place = cells(row).indexOf(cell);
    if (!down) return cells(row)[place + across];
    const next = rows()[rows().indexOf(row) + down];
    return next && cells(next)[place];
  };

  const open = (cell) => {
    if (cell.querySelector("input")) return;
    const input = document.createElement("input");
    const before = cell.textContent;
    input.value = before;
    const place = { column: cell.dataset.label, row: cell.closest("tbody").id.slice(4) };
    input.setAttribute("aria-label", interpolate(gettext("%(column)s, row %(row)s"), place, true));
    cell.dataset.before = before;
    cell.replaceChildren(input);
    input.select();
    input.focus();
    input.addEventListener("blur", () => save(cell));
  };

  const close = (cell, text) => {
    const shown = document.createElement("span");
    shown.className = "grid-text";
    shown.textContent = text;
    delete cell.dataset.before;
    cell.replaceChildren(shown);
  };

  const put = (page, id) => {
    const anew = page.getElementById(id);
    const isOpen = document.querySelector(`#${id} details[open]`);
    if (anew) document.getElementById(id)?.replaceWith(anew);
    if (isOpen) anew?.querySelector("details")?.setAttribute("open", "");
    return anew;
  };

  const refuse = (cell, text, why) => {
    close(cell, cell.dataset.before ?? cell.textContent);
    open(cell);
    cell.querySelector("input").value = text;
    const line = document.createElement("span");
    line.className = "grid-refusal";
    line.textContent = why;
    cell.append(line);
    said.textContent = why;
  };

  // While the renderers are busy a row is checked a moment after it was saved.
  const EVERY_MS = 1500;
  const lookAgain = async (id) => {
    const row = document.getElementById(id);
    if (!row || !("pending" in row.dataset)) return;
    const isInUse = row.querySelector(".grid-saving, input");
    const answer = isInUse ? null : await fetch(row.dataset.save, { headers: { "X-Grid": "1" } }).catch(() => null);
    const content = answer?.ok && !answer.redirected ? await answer.text() : "";
    if (content && !row.querySelector(".grid-saving")) take(new DOMParser().parseFromString(content, "text/html"), id);
    else setTimeout(lookAgain, EVERY_MS, id);
  };

  // Saves of one row follow each other, so that the last answer is the last state.
  const saving = new Map();
  const save = async (cell) => {
    const input = cell.querySelector("input");
    if (!input || !("before" in cell.dataset)) return;
    const { before } = cell.dataset;
    const text = input.value;
    if (text === before) {
      close(cell, before);
      return;
    }
    const row = cell.closest("tbody");
    const { id } = row;
    const { place } = cell.dataset;
    close(cell, text);
    cell.classList.add("grid-saving");
    const former = saving.get(id);
    const mine = (async () => {
      await former;
      await send(id, place, before, text);
    })();
    saving.set(id, mine);
    await mine;
  };

  const send = async (id, place, before, text) => {
    const row = document.getElementById(id);
    const cell = row.querySelector(`[data-place="${place}"]`);
    const body = new URLSearchParams({ [`cell-${place}`]: text, csrfmiddlewaretoken: token() });
    let answer;
    try {
      answer = await fetch(row.dataset.save, { method: "POST", body, headers: { "X-Grid": "1" } });
    } catch {
      answer = null;
    }
    cell.classList.remove("grid-saving");
    const content = answer ? await answer.text() : "";
    if (!answer?.ok || answer.redirected) {
      cell.dataset.before = before;
      const why = answer?.status === 400 ? content : gettext("It was not saved. Try again in a moment.");
      refuse(cell, text, why);
      return;
    }
    take(new DOMParser().parseFromString(content, "text/html"), id);
  };

  // Another cell of the row may be open, or have the focus, by the time the answer comes.
  const take = (page, id) => {
    const here = document.getElementById(id);
    const active = here.contains(document.activeElement) ? document.activeElement.closest(".grid-cell") : null;
    const typed = active?.querySelector("input")?.value;
    const chosen = document.querySelector("#batch-filters [aria-current]")?.search;
    const row = put(page, id);
    for (const name of ["batch-bar", "batch-filters"]) put(page, name);
    for (const link of document.querySelectorAll("#batch-filters a")) {
      if (link.search === chosen) link.setAttribute("aria-current", "true");
    }
    const cell = active && row.querySelector(`[data-place="${active.dataset.place}"]`);
    if (cell) focusCell(cell);
    else if (!grid().querySelector(".grid-cell[tabindex='0']")) prepare();
    if (cell && typed !== undefined) {
      open(cell);
      cell.querySelector("input").value = typed;
    }
    if ("pending" in row.dataset) setTimeout(lookAgain, EVERY_MS, id);
    const saved = { row: id.slice(4), state: row.querySelector(".grid-state").textContent.trim() };
    said.textContent = interpolate(gettext("Row %(row)s is saved: %(state)s."), saved, true);
  };

  // As in a spreadsheet: what is typed on a cell takes the place of its text.
  const isText = ({ key, ctrlKey, metaKey, altKey }) => key.length === 1 && key !== " " && !ctrlKey && !metaKey && !altKey;

  const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

  const move = (event, cell) => {
    const [across, down] = ARROWS[event.key];
    const next = beside(cell, across, down);
    if (!next) return;
    event.preventDefault();
    focusCell(next);
  };

  const leave = (event, cell) => {
    const next = event.key === "Enter" ? beside(cell, 0, 1) : beside(cell, event.shiftKey ? -1 : 1, 0);
    save(cell);
    if (!next && event.key === "Tab") return;
    event.preventDefault();
    focusCell(next ?? cell);
  };

  document.addEventListener("keydown", (event) => {
    const cell = event.target.closest?.("#grid[data-editable] .grid-cell");
    if (!cell) {
      if (event.key !== "/" || event.target.matches("input, textarea, select")) return;
      event.preventDefault();
      document.getElementById("words").focus();
      return;
    }
    if (event.target !== cell) {
      if (event.isComposing) return;
      if (event.key === "Escape") {
        close(cell, cell.dataset.before);
        focusCell(cell);
      } else if (event.key === "Enter" || event.key === "Tab") leave(event, cell);
      return;
    }
    if (event.key in ARROWS) move(event, cell);
    else if (event.key === "Enter" || event.key === "F2") {
      event.preventDefault();
      open(cell);
    } else if (event.key === "/") {
      event.preventDefault();
      document.getElementById("words").focus();
    } else if (event.key === "Home" || event.key === "End") {
      event.preventDefault();
      focusCell(cells(cell.closest("tbody")).at(event.key === "Home" ? 0 : -1));
    } else if (isText(event)) open(cell);
  });
  document.addEventListener("click", ({ target }) => {
    const cell = target.closest("#grid[data-editable] .grid-cell");
    if (cell && !target.matches("input")) {
      focusCell(cell);
      open(cell);
    }
  });

  // The page looks again while the rows are checked.
  new MutationObserver((changes) => {
    if (changes.some(({ target }) => target === part)) prepare();
  }).observe(part, { childList: true });
  prepare();
})();
