"use strict";

// A record that is one of many is found by typing a part of its name. The select stays, and is what is sent; the field
// before it is a combobox: arrows move through what was found, Enter takes it, Escape keeps what was chosen.
(() => {
  const PAUSE = 150;

  class Chooser {
    constructor(select) {
      this.select = select;
      this.field = document.createElement("input");
      this.list = document.createElement("ul");
      const name = select.getAttribute("aria-label") || select.labels[0]?.textContent.trim().replace(/\s*\*$/, "") || "";
      for (const part of ["id", "aria-describedby", "aria-invalid", "aria-required"]) {
        if (select.hasAttribute(part)) this.field.setAttribute(part, select.getAttribute(part));
      }
      this.list.id = `${select.id}-found`;
      select.removeAttribute("id");
      Object.assign(this.field, { type: "text", autocomplete: "off", role: "combobox", placeholder: select.dataset.hint });
      this.field.className = select.className;
      this.field.setAttribute("aria-label", name);
      this.field.setAttribute("aria-autocomplete", "list");
      this.field.setAttribute("aria-controls", this.list.id);
      this.list.setAttribute("role", "listbox");
      this.list.setAttribute("aria-label", name);
      const box = document.createElement("div");
      box.className = "choose";
      box.append(this.field, this.list);
      // Around the select is the picture of its arrow.
      select.parentElement.replaceWith(box);
      box.append(select);
      select.hidden = true;
      this.keep();
      this.field.addEventListener("input", () => this.later());
      this.field.addEventListener("focus", () => this.field.select());
      this.field.addEventListener("keydown", (event) => this.key(event));
      this.field.addEventListener("blur", () => this.leave());
      // A click must not take the focus out of the field before it is one.
      this.list.addEventListener("mousedown", (event) => event.preventDefault());
      this.list.addEventListener("click", (event) => {
        const option = event.target.closest("[role=option]");
        if (option) this.take(option);
      });
    }

    // What is chosen stands in the field again.
    keep() {
      clearTimeout(this.timer);
      this.request?.abort();
      this.field.value = this.select.value ? this.select.selectedOptions[0].text.trim() : "";
      this.list.hidden = true;
      this.field.setAttribute("aria-expanded", "false");
      this.field.removeAttribute("aria-activedescendant");
    }

    leave() {
      if (this.field.value.trim() === "") this.choose("", "");
      this.keep();
    }

    choose(key, text) {
      if (this.select.value === key) return;
      this.select.replaceChildren(new Option(text, key, true, true));
      this.select.dispatchEvent(new Event("change", { bubbles: true }));
    }

    take(option) {
      this.choose(option.dataset.key, option.textContent);
      this.keep();
    }

    later() {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.ask(), PAUSE);
    }

    async ask() {
      this.request?.abort();
      this.request = new AbortController();
      const address = `${this.select.dataset.choose}&term=${encodeURIComponent(this.field.value.trim())}`;
      try {
        const answer = await fetch(address, { signal: this.request.signal });
        if (!answer.ok) throw new Error(answer.statusText);
        this.show(await answer.json());
      } catch (error) {
        if (error.name !== "AbortError") this.say(this.select.dataset.failed);
      }
    }

    show({ results, pagination }) {
      const options = results.map(({ id, text }, place) => {
        const option = document.createElement("li");
        option.id = `${this.list.id}-${place}`;
        option.setAttribute("role", "option");
        option.dataset.key = id;
        option.textContent = text;
        return option;
      });
      if (options.length === 0) return this.say(this.select.dataset.nothing);
      this.say(pagination.more ? this.select.dataset.more : "");
      this.list.prepend(...options);
      this.mark(0);
    }

    // Instead of options, or after them.
    say(text) {
      const said = document.createElement("li");
      said.setAttribute("role", "presentation");
      said.textContent = text;
      this.list.replaceChildren(...(text ? [said] : []));
      this.list.hidden = false;
      this.field.setAttribute("aria-expanded", "true");
    }

    mark(place) {
      const options = this.options;
      options.forEach((option, number) => option.setAttribute("aria-selected", String(number === place)));
      this.at = place;
      this.field.setAttribute("aria-activedescendant", options[place].id);
      options[place].scrollIntoView({ block: "nearest" });
    }

    get options() {
      return [...this.list.querySelectorAll("[role=option]")];
    }

    key(event) {
      const isOpen = !this.list.hidden;
      const count = isOpen ? this.options.length : 0;
      if (event.key === "Escape" && isOpen) {
        event.preventDefault();
        event.stopPropagation();
        this.keep();
      } else if (event.key === "Enter" && isOpen && !event.isComposing) {
        event.preventDefault();
        if (count) this.take(this.options[this.at]);
      } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
        event.preventDefault();
        if (count) this.mark((this.at + (event.key === "ArrowDown" ? 1 : count - 1)) % count);
        else this.ask();
      }
    }
  }

  const enhance = (part) => {
    for (const select of part.querySelectorAll("select[data-choose]:not([hidden])")) {
      if (!select.name.includes("__prefix__")) new Chooser(select);
    }
  };
  document.addEventListener("DOMContentLoaded", () => enhance(document));
  document.addEventListener("formset:added", (event) => enhance(event.target));
})();
