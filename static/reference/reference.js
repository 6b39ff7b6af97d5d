// What makes the reference handier where JavaScript runs; every page of it works without.

(() => {
  const field = document.querySelector("[data-filter]");
  if (!field) return;
  const nav = field.closest("nav");
  const groups = [...nav.querySelectorAll("[data-group]")];
  const said = nav.querySelector("[data-found]");
  const nothing = nav.querySelector("[data-nothing]");
  const empty = new Set(field.dataset.empty.split(" "));
  const filter = () => {
    const words = (field.value.toLowerCase().match(/[^\s?!,]+/g) ?? []).filter((word) => !empty.has(word));
    let count = 0;
    for (const group of groups) {
      let left = 0;
      for (const item of group.querySelectorAll("li")) {
        const link = item.querySelector("a");
        const text = `${link.textContent} ${link.dataset.words ?? ""}`.toLowerCase();
        item.hidden = !words.every((word) => text.includes(word));
        if (!item.hidden) left += 1;
      }
      group.hidden = left === 0;
      count += left;
    }
    nothing.hidden = count > 0;
    said.textContent = words.length ? `${count} entries` : "";
  };
  field.addEventListener("input", filter);
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest("input, textarea, select, [contenteditable]")) return;
    event.preventDefault();
    if (getComputedStyle(nav).display === "none") location.hash = "menu";
    field.focus();
  });
  const current = nav.querySelector("[aria-current]");
  if (current && nav.scrollHeight > nav.clientHeight) nav.scrollTop = current.offsetTop - nav.clientHeight / 3;
})();

// The form to send a request is brought into the page, and its answer too.
(() => {
  const place = document.querySelector("[data-send]");
  const show = (page, into) => {
    const form = new DOMParser().parseFromString(page, "text/html").querySelector("[data-send-form]");
    if (!form) return false;
    into.replaceChildren(form);
    form.querySelector("form").noValidate = true;
    for (const button of form.querySelectorAll("button[data-copy]")) button.hidden = !navigator.clipboard;
    into.querySelector("[data-answer], [aria-invalid=true]")?.focus();
    return true;
  };
  const take = (into) => {
    into.addEventListener("submit", async (event) => {
      const form = event.target.closest("form[data-send-request]");
      if (!form) return;
      event.preventDefault();
      const button = form.querySelector("button[type=submit]");
      button.disabled = true;
      try {
        const answer = await fetch(form.action, { method: "POST", body: new FormData(form), redirect: "follow" });
        if (!show(await answer.text(), into)) location.assign(form.action);
      } catch {
        const lost = Object.assign(document.createElement("p"), { className: "notice notice-error" });
        lost.role = "alert";
        lost.textContent = "The response did not arrive. Check whether the request took effect before you send it again.";
        form.prepend(lost);
      } finally {
        button.disabled = false;
      }
    });
  };
  const own = document.querySelector("[data-send-form]");
  if (own) take(own.parentElement);
  if (!place) return;
  place.querySelector("a").addEventListener("click", async (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const link = event.currentTarget;
    try {
      const answer = await fetch(link.href);
      const box = document.createElement("div");
      if (answer.redirected || !show(await answer.text(), box)) { location.assign(link.href); return; }
      place.replaceWith(box);
      take(box);
      box.querySelector("select, input:not([type=hidden]), textarea, button")?.focus();
    } catch {
      location.assign(link.href);
    }
  });
})();
