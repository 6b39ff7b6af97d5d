// Decisions by key: the first key chooses, Enter confirms. A denial needs its reason first.
"use strict";

class Queue {
  constructor(cards) {
    this.cards = cards;
    document.addEventListener("keydown", (event) => this.key(event));
    for (const card of cards) {
      const note = card.querySelector("input[name=note]");
      if (!note) continue;
      note.addEventListener("keydown", (event) => {
        if (event.key === "Enter" && card.dataset.chosen) {
          event.preventDefault();
          card.querySelector(`button[value=${card.dataset.chosen}]`).click();
        } else if (event.key === "Escape") {
          note.blur();
          card.focus();
        }
      });
      card.querySelector("button[value=deny]").addEventListener("click", (event) => {
        if (note.value.trim()) return;
        event.preventDefault();
        this.choose(card, "deny");
      });
    }
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input:not([type=checkbox]), textarea, select")) return;
    const at = this.cards.indexOf(document.activeElement.closest("section.approval"));
    if (event.key === "j" || event.key === "k") {
      const next = this.cards[Math.max(0, Math.min(this.cards.length - 1, event.key === "j" ? at + 1 : at - 1))];
      next.focus();
      next.scrollIntoView({ block: "nearest" });
    } else if (event.key === "a" || event.key === "d") {
      const card = this.cards[Math.max(0, at)];
      if (!card.querySelector("form")) return;
      this.choose(card, event.key === "a" ? "approve" : "deny");
    } else return;
    event.preventDefault();
  }

  choose(card, decision) {
    card.dataset.chosen = decision;
    const isApproval = decision === "approve";
    card.querySelector(".approval-said").textContent = isApproval ? gettext("Press Enter to approve.") : gettext("Enter the reason, then press Enter to deny.");
    (isApproval ? card.querySelector("button[value=approve]") : card.querySelector("input[name=note]")).focus();
  }
}

const cards = [...document.querySelectorAll("section.approval")];
if (cards.length) new Queue(cards);
