"use strict";

// The search of everything: the box in the side bar, and the same in a dialog that Ctrl+K opens. A combobox with a list
// of options: the focus stays in the field, the arrows move through the list, Enter opens what is selected.
(() => {
  const PAUSE = 120;

  function part(name, text, className) {
    const made = document.createElement(name);
    made.textContent = text;
    made.className = className;
    return made;
  }

  class Finder {
    constructor(form) {
      this.form = form;
      this.field = form.querySelector("[role=combobox]");
      this.box = form.querySelector(".find-box");
      this.list = form.querySelector("[role=listbox]");
      this.said = form.querySelector("[role=status]");
      this.dialog = form.closest("dialog");
      this.reset();
      this.field.addEventListener("input", () => this.later());
      this.field.addEventListener("keydown", (event) => this.key(event));
      form.addEventListener("submit", (event) => {
        event.preventDefault();
        this.enter(false);
      });
      // A click must not take the focus out of the field before it is one.
      this.box.addEventListener("mousedown", (event) => event.preventDefault());
      this.list.addEventListener("click", (event) => {
        const option = event.target.closest("[role=option]");
        if (option) this.open(option, event.ctrlKey || event.metaKey);
      });
      document.addEventListener("click", (event) => {
        if (!form.contains(event.target) && !this.dialog) this.hide();
      });
      form.addEventListener("focusout", (event) => {
        if (!this.dialog && !form.contains(event.relatedTarget)) this.hide();
      });
    }

    get words() {
      return this.field.value.trim();
    }

    reset() {
      clearTimeout(this.timer);
      this.request?.abort();
      this.shownFor = "";
      this.waiting = null;
      this.field.value = "";
      this.list.replaceChildren();
      this.hide();
    }

    hide() {
      this.box.hidden = true;
      this.field.setAttribute("aria-expanded", "false");
      this.field.removeAttribute("aria-activedescendant");
    }

    later() {
      clearTimeout(this.timer);
      this.waiting = null;
      if (this.words === "") {
        this.request?.abort();
        this.shownFor = "";
        this.hide();
      } else this.timer = setTimeout(() => this.ask(), PAUSE);
    }

    async ask() {
      const words = this.words;
      this.request?.abort();
      this.request = new AbortController();
      try {
        const address = `${this.form.getAttribute("action")}?s=${encodeURIComponent(words)}`;
        const answer = await fetch(address, { headers: { Accept: "application/json" }, signal: this.request.signal });
        this.show((await answer.json()).hits, words);
      } catch (error) {
        if (error.name !== "AbortError") this.show([], words, gettext("The search did not respond. Try again."));
      }
    }

    show(hits, words, failure) {
      this.shownFor = failure ? "" : words;
      this.list.replaceChildren(...hits.map((hit, place) => this.option(hit, place)));
      const count = interpolate(ngettext("%s result", "%s results", hits.length), [hits.length]);
      this.said.textContent = failure || (hits.length ? count : interpolate(gettext("No results for “%s”"), [words]));
      this.box.hidden = false;
      this.list.hidden = hits.length === 0;
      this.field.setAttribute("aria-expanded", String(hits.length > 0));
      this.select(0);
      if (this.waiting && !failure) this.enter(this.waiting.inNewTab);
      this.waiting = null;
    }

    option(hit, place) {
      const made = document.createElement("li");
      made.id = `${this.list.id}-${place}`;
      made.setAttribute("role", "option");
      made.dataset.address = hit.address;
      made.append(part("b", hit.title, "find-title"), part("span", hit.kind, "find-kind"));
      if (hit.detail) made.append(part("small", hit.detail, "find-detail"));
      return made;
    }

    select(place) {
      const options = [...this.list.children];
      options.forEach((option, number) => option.setAttribute("aria-selected", String(number === place)));
      this.at = place;
      if (!options[place]) return this.field.removeAttribute("aria-activedescendant");
      this.field.setAttribute("aria-activedescendant", options[place].id);
      options[place].scrollIntoView({ block: "nearest" });
    }

    enter(inNewTab) {
      if (this.words === "") return;
      if (this.shownFor !== this.words) {
        // Typed and entered at once: opened as soon as it is found.
        this.waiting = { inNewTab };
        clearTimeout(this.timer);
        this.ask();
      } else if (this.list.children[this.at]) this.open(this.list.children[this.at], inNewTab);
    }

    open(option, inNewTab) {
      const address = option.dataset.address;
      if (inNewTab) window.open(address, "_blank", "noopener");
      else window.location.assign(address);
    }

    key(event) {
      const count = this.list.children.length;
      if (event.key === "Escape") {
        event.preventDefault();
        const wasEmpty = this.field.value === "";
        this.reset();
        if (this.dialog) this.dialog.close();
        else if (wasEmpty) this.field.blur();
      } else if (event.key === "Enter" && !event.isComposing) {
        event.preventDefault();
        this.enter(event.ctrlKey || event.metaKey);
      } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && count && !this.box.hidden) {
        event.preventDefault();
        this.select((this.at + (event.key === "ArrowDown" ? 1 : count - 1)) % count);
      }
    }
  }

  document.addEventListener("DOMContentLoaded", () => {
    const finders = [...document.querySelectorAll("form.find")].map((form) => new Finder(form));
    const dialog = document.getElementById("command");
    const inDialog = finders.find((finder) => finder.dialog);
    dialog?.addEventListener("close", () => inDialog.reset());
    dialog?.addEventListener("click", (event) => {
      if (event.target === dialog) dialog.close();
    });
    document.addEventListener("keydown", (event) => {
      const isTyping = event.target.closest?.("input, textarea, select, [contenteditable]");
      if (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey) && dialog) {
        event.preventDefault();
        if (dialog.open) dialog.close();
        else dialog.showModal();
      } else if (event.key === "t" && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
        const field = document.getElementById("nav-filter");
        if (field?.checkVisibility()) {
          event.preventDefault();
          field.focus();
        }
      }
    });
  });
})();
