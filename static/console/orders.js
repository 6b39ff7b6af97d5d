"use strict";

// The list of orders by keys, what is chosen in it, and print files in a dialog of the order's page.
document.addEventListener("DOMContentLoaded", () => {
  openPrintFiles();
  openDecisions();
  const form = document.getElementById("changelist-form");
  setUpTools();
  if (form && form.classList.contains("orders-form")) new Choice(form);
});

class Choice {
  constructor(form) {
    this.form = form;
    this.boxes = [...form.querySelectorAll(".action-select")];
    this.all = form.querySelector("#action-toggle");
    this.bar = form.querySelector(".orders-bulk");
    this.across = form.querySelector(".orders-across");
    this.acrossInput = form.querySelector("[name=select_across]");
    this.last = null;
    this.all.addEventListener("change", () => this.chooseAll(this.all.checked));
    for (const box of this.boxes) box.addEventListener("click", (event) => this.chosen(box, event.shiftKey));
    if (this.across) this.across.addEventListener("click", () => this.chooseAcross());
    document.addEventListener("keydown", (event) => this.key(event));
    // Of an earlier visit, where the browser comes back to the page.
    window.addEventListener("pageshow", () => this.show());
    this.show();
  }

  chooseAll(isOn) {
    for (const box of this.boxes) box.checked = isOn;
    this.show();
  }

  chooseAcross() {
    this.acrossInput.value = "1";
    this.show(true);
  }

  chosen(box, isRange) {
    if (isRange && this.last) {
      const [from, to] = [this.boxes.indexOf(this.last), this.boxes.indexOf(box)].sort((a, b) => a - b);
      for (const one of this.boxes.slice(from, to + 1)) one.checked = box.checked;
    }
    this.last = box;
    this.show();
  }

  show(isAcross = false) {
    const chosen = this.boxes.filter((box) => box.checked);
    const count = chosen.length;
    if (!isAcross) this.acrossInput.value = "0";
    this.all.checked = count > 0 && count === this.boxes.length;
    this.all.indeterminate = count > 0 && count < this.boxes.length;
    this.bar.classList.toggle("is-empty", count === 0);
    for (const button of this.bar.querySelectorAll("button[name=action]")) button.disabled = count === 0;
    this.offer(isAcross ? null : new Set(chosen.flatMap((box) => box.dataset.moves.split(" "))));
    const words = this.bar.querySelector(".orders-chosen");
    words.textContent = count ? (isAcross ? this.across.dataset.said : words.dataset.some.replace("{}", count)) : "";
    if (this.across) this.across.hidden = isAcross || count < this.boxes.length;
    for (const box of this.boxes) box.closest("tr").classList.toggle("is-chosen", box.checked);
  }

  // Of orders on other pages it is not known what they allow.
  offer(possible) {
    const moves = [...this.bar.querySelectorAll("[data-kind]")];
    for (const button of moves) button.hidden = possible !== null && !possible.has(button.value);
    const usual = moves.find((button) => !button.hidden && button.dataset.kind === "forward");
    for (const button of moves) button.classList.toggle("console-primary", button === usual);
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || document.querySelector("dialog[open]")) return;
    const links = [...this.form.querySelectorAll(".orders-link")];
    const row = document.activeElement.closest && document.activeElement.closest("#result_list tbody tr");
    const at = row ? links.indexOf(row.querySelector(".orders-link")) : -1;
    if (event.key === "j" || event.key === "k") {
      const next = links[Math.max(0, Math.min(links.length - 1, event.key === "j" ? at + 1 : at - 1))];
      next.focus();
      next.scrollIntoView({ block: "nearest" });
    } else if (event.key.toLowerCase() === "x" && row) {
      const box = row.querySelector(".action-select");
      box.checked = event.shiftKey ? true : !box.checked;
      this.chosen(box, event.shiftKey);
    } else if (event.key === "Escape") {
      this.chooseAll(false);
      return;
    } else return;
    event.preventDefault();
  }
}

function isTyping(at) {
  return at.matches("input:not([type=checkbox]), textarea, select, [contenteditable]");
}

function setUpTools() {
  const search = document.getElementById("orders-q");
  const help = document.querySelector(".orders-help");
  const button = document.querySelector(".orders-keys");
  if (!search || !help) return;
  button.addEventListener("click", () => help.showModal());
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || document.querySelector("dialog[open]")) return;
    if (event.key === "/") search.focus();
    else if (event.key === "?") help.showModal();
    else return;
    event.preventDefault();
  });
  const sort = document.getElementById("orders-sort");
  sort.addEventListener("change", () => sort.form.requestSubmit());
}

// Without script each of these buttons leads to the same as a page.
function openDecisions() {
  for (const button of document.querySelectorAll("button[data-decision]")) {
    const dialog = document.getElementById(button.dataset.decision);
    const note = dialog.querySelector("[name=note]");
    button.addEventListener("click", (event) => {
      event.preventDefault();
      note.value = note.value || document.getElementById("id_note")?.value || "";
      dialog.showModal();
      note.focus();
    });
    dialog.querySelector("[data-close]").addEventListener("click", () => dialog.close());
  }
}

function openPrintFiles() {
  const dialog = document.getElementById("print-view");
  if (!dialog) return;
  const content = dialog.querySelector(".print-dialog-content");
  for (const link of document.querySelectorAll("a[data-dialog=print-view]")) {
    link.addEventListener("click", async (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      const answer = await fetch(link.href, { credentials: "same-origin" });
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const pages = page.getElementById("print-pages");
      if (!pages) {
        location.href = link.href;
        return;
      }
      content.replaceChildren(document.importNode(pages, true));
      dialog.showModal();
    });
  }
}
