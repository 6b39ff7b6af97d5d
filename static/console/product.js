"use strict";

// The page of a product: rows, columns and their order. Without it there is one empty row and column to fill in.
document.addEventListener("DOMContentLoaded", () => {
  const form = document.getElementById("product_form");
  if (!form || !form.querySelector("[data-rows]")) return;

  const total = (prefix) => form.querySelector(`[name="${prefix}-TOTAL_FORMS"]`);

  function numberRows(list) {
    const rows = [...list.children];
    rows.forEach((row, at) => {
      const place = row.querySelector('[name$="-position"]');
      if (place) place.value = at;
    });
  }

  function addRow(prefix) {
    const list = form.querySelector(`[data-rows="${prefix}"]`);
    const holder = document.createElement("ol");
    holder.innerHTML = form.querySelector(`[data-empty="${prefix}"]`).innerHTML.replaceAll("__prefix__", total(prefix).value);
    const row = holder.firstElementChild;
    total(prefix).value = Number(total(prefix).value) + 1;
    list.append(row);
    showMoves(row);
    row.querySelector("input:not([type=hidden])").focus();
  }

  function showMoves(row) {
    for (const one of row.querySelectorAll("[data-moves]")) one.hidden = false;
  }

  for (const list of form.querySelectorAll("[data-rows]")) {
    const last = list.lastElementChild;
    if (last && last.matches("[data-blank]")) {
      last.remove();
      total(list.dataset.rows).value = Number(total(list.dataset.rows).value) - 1;
    }
    for (const row of list.children) showMoves(row);
  }
  for (const button of form.querySelectorAll("[data-add]")) {
    button.hidden = false;
    button.addEventListener("click", () => addRow(button.dataset.add));
  }
  form.addEventListener("click", (event) => {
    const button = event.target.closest("[data-move]");
    if (!button) return;
    const row = button.closest("[data-row]");
    if (button.dataset.move === "up" && row.previousElementSibling) row.previousElementSibling.before(row);
    if (button.dataset.move === "down" && row.nextElementSibling) row.nextElementSibling.after(row);
    numberRows(row.parentElement);
    button.focus();
  });

  // On a phone the parts below the basics are folded, unless one is wrong; a link to a part opens it.
  if (matchMedia("(max-width: 700px)").matches) {
    for (const part of form.querySelectorAll("[data-fold]")) part.open = part.querySelector(".errorlist, [aria-invalid=true]") !== null;
  }
  const openPart = () => document.getElementById(location.hash.slice(1))?.querySelector("[data-fold]")?.setAttribute("open", "");
  addEventListener("hashchange", openPart);
  openPart();

  // The first delivery method that gets prices is the usual one, until another is chosen.
  form.addEventListener("change", (event) => {
    const usual = form.querySelector("#id_delivery_method");
    if (!usual || usual.value || !event.target.matches('[name^="prices-m"][name$="-code"]')) return;
    if ([...usual.options].some((one) => one.value === event.target.value && one.value !== "+")) usual.value = event.target.value;
  });

  // A list needs its choices: they are in the drawer.
  form.addEventListener("change", (event) => {
    const row = event.target.closest("[data-row]");
    if (!row || !event.target.matches('[name$="-kind"]') || event.target.value !== "Choice:List") return;
    row.querySelector("[popover]").showPopover();
    row.querySelector('[name$="-choices"]').focus();
  });
  form.addEventListener("click", (event) => {
    const target = event.target.closest(".errornote a") && document.getElementById(event.target.closest("a").hash.slice(1));
    const drawer = target && target.closest("[popover]");
    if (drawer) drawer.showPopover();
    if (target) setTimeout(() => target.focus());
  });

  const matrix = form.querySelector("[data-matrix]");
  if (matrix) priceTable(form, matrix);
});

function priceTable(form, matrix) {
  const methods = form.querySelector('[name="prices-methods"]');
  const places = form.querySelector('[name="prices-places"]');
  const names = {
    code: (m) => `prices-m${m}-code`,
    "code-new": (m) => `prices-m${m}-code-new`,
    description: (m) => `prices-m${m}-description`,
    country: (m, p) => `prices-p${p}-country`,
    location: (m, p) => `prices-p${p}-location`,
    price: (m, p) => `prices-${m}-${p}`,
  };

  function rename(part) {
    for (const input of part.querySelectorAll("[data-part]")) {
      const m = input.closest("[data-method]")?.dataset.method;
      const p = input.closest("[data-place]")?.dataset.place;
      if (input.dataset.part === "default") input.value = `${m}-${p}`;
      else input.name = input.id = names[input.dataset.part](m, p);
    }
  }

  function nameCells() {
    for (const cell of matrix.querySelectorAll("tbody td")) {
      const code = matrix.querySelector(`thead [data-method="${cell.dataset.method}"] [data-part="code"]`);
      const place = cell.parentElement;
      const country = place.querySelector('[data-part="country"]');
      const isNew = code.value === "+";
      const method = isNew ? matrix.querySelector(`thead [data-method="${cell.dataset.method}"] [data-part="code-new"]`).value : code.value;
      // On a phone, where the cell does not stand below its delivery method.
      cell.dataset.label = isNew ? method : code.selectedOptions[0]?.text ?? "";
      const what = [method, country.selectedOptions[0]?.text, place.querySelector('[data-part="location"]').value].join(", ");
      cell.querySelector('[data-part="price"]').setAttribute("aria-label", interpolate(gettext("Price, %s"), [what]));
      cell.querySelector('[data-part="default"]').setAttribute("aria-label", interpolate(gettext("Default price: %s"), [what]));
    }
  }

  const spareRow = matrix.querySelector("tbody tr[data-spare]").cloneNode(true);
  const spareHead = matrix.querySelector("thead [data-spare]").cloneNode(true);
  const spareCell = matrix.querySelector("tbody tr[data-spare] td[data-spare]").cloneNode(true);
  if (matrix.querySelector("tbody tr:not([data-spare])")) for (const one of matrix.querySelectorAll("tbody tr[data-spare]")) one.remove();
  if (matrix.querySelector("thead [data-method]:not([data-spare])")) for (const one of matrix.querySelectorAll("thead [data-spare], td[data-spare]")) one.remove();

  function show(part) {
    for (const button of part.querySelectorAll("[data-remove-method], [data-remove-place]")) button.hidden = false;
  }

  function addPlace() {
    const row = spareRow.cloneNode(true);
    row.removeAttribute("data-spare");
    row.dataset.place = places.value;
    places.value = Number(places.value) + 1;
    for (const cell of row.querySelectorAll("td")) cell.remove();
    for (const head of matrix.querySelectorAll("thead [data-method]")) {
      const cell = spareCell.cloneNode(true);
      cell.dataset.method = head.dataset.method;
      row.append(cell);
    }
    // As the row above, in the other kind of place: that is what is mostly added.
    const above = matrix.querySelector("tbody tr:last-child");
    if (above) {
      row.querySelector('[data-part="country"]').value = above.querySelector('[data-part="country"]').value;
      const location = row.querySelector('[data-part="location"]');
      location.selectedIndex = above.querySelector('[data-part="location"]').selectedIndex ? 0 : 1;
    }
    matrix.tBodies[0].append(row);
    rename(row);
    show(row);
    nameCells();
    row.querySelector('[data-part="country"]').focus();
  }

  function addMethod() {
    const head = spareHead.cloneNode(true);
    head.removeAttribute("data-spare");
    head.dataset.method = methods.value;
    methods.value = Number(methods.value) + 1;
    matrix.tHead.rows[0].append(head);
    rename(head);
    for (const row of matrix.tBodies[0].rows) {
      const cell = spareCell.cloneNode(true);
      cell.removeAttribute("data-spare");
      cell.dataset.method = head.dataset.method;
      row.append(cell);
      rename(cell);
    }
    show(head);
    nameCells();
    head.querySelector("select").focus();
  }

  // Of a new product the first column is its usual delivery method, until another one is chosen there.
  const usual = form.querySelector('[name="delivery_method"]');
  const usualNew = form.querySelector('[name="delivery_method-new"]');
  let offered = "";
  form.addEventListener("change", (event) => {
    if (event.target !== usual && event.target !== usualNew) return;
    const first = matrix.querySelector('thead [data-part="code"]');
    const written = matrix.querySelector('thead [data-part="code-new"]');
    const now = first && (first.value === "+" ? written.value : first.value);
    if (!first || now !== offered) return;
    [first.value, written.value] = [usual.value, usualNew.value];
    offered = usual.value === "+" ? usualNew.value : usual.value;
    nameCells();
  });

  show(matrix);
  nameCells();
  matrix.addEventListener("change", nameCells);
  for (const [name, act] of [["place", addPlace], ["method", addMethod]]) {
    const button = form.querySelector(`[data-add-${name}]`);
    button.hidden = false;
    button.addEventListener("click", act);
  }
  matrix.addEventListener("click", (event) => {
    if (event.target.closest("[data-remove-place]")) event.target.closest("tr").remove();
    const head = event.target.closest("[data-remove-method]")?.closest("th");
    if (head) for (const one of matrix.querySelectorAll(`[data-method="${head.dataset.method}"]`)) one.remove();
  });

  // A block of a spreadsheet fills the cells from the one it is pasted into.
  matrix.addEventListener("paste", (event) => {
    const cell = event.target.closest("td");
    const rows = event.clipboardData.getData("text").replace(/\r/g, "").replace(/\n$/, "").split("\n").map((line) => line.split("\t"));
    if (!cell || (rows.length === 1 && rows[0].length === 1)) return;
    event.preventDefault();
    const [top, left] = [cell.parentElement.sectionRowIndex, cell.cellIndex];
    rows.forEach((values, down) => values.forEach((value, right) => {
      const input = matrix.tBodies[0].rows[top + down]?.cells[left + right]?.querySelector('[data-part="price"]');
      if (input) input.value = value.trim().replace(/^[^\d.-]+/, "");
    }));
  });
}
