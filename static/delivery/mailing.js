// Sends the form of a mailing when it is changed, and takes what has changed out of the answer: the same page. The
// ticks of single routes are added up here.
(() => {
  const form = document.querySelector("form[data-mailing]");
  if (!form) return;
  const PAUSE = 400;
  const numbers = new Intl.NumberFormat("en-US");
  const money = new Intl.NumberFormat("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
  let timer = 0;
  let sent = 0;

  const boxes = () => [...form.querySelectorAll("input[name=route]")];
  const changed = () => form.dispatchEvent(new CustomEvent("routes"));

  const addUp = () => {
    const totals = form.querySelector("[data-totals]");
    if (!totals || totals.dataset.hiddenRoutes) return send();
    const taken = boxes().filter((box) => box.checked);
    const sum = (name) => taken.reduce((so_far, box) => so_far + Number(box.dataset[name]), 0);
    const put = (name, text) => {
      const place = totals.querySelector(`[data-total=${name}]`);
      if (place) place.textContent = text;
    };
    put("routes", numbers.format(taken.length));
    for (const name of ["homes", "firms", "pieces"]) put(name, numbers.format(sum(name)));
    put("cost", money.format(sum("pieces") * Number(totals.dataset.price)));
    changed();
    return undefined;
  };

  const take = (page) => {
    const focused = document.activeElement?.id;
    const scrolled = form.querySelector(".mailing-list")?.scrollTop;
    const language = document.querySelector(".switch input:checked")?.id;
    for (const part of page.querySelectorAll("[data-part]")) {
      const here = document.getElementById(part.id);
      if (!here) continue;
      const isOpen = [...here.querySelectorAll("details")].map((details) => details.open);
      here.replaceChildren(...part.childNodes);
      here.querySelectorAll("details").forEach((details, place) => { details.open ||= isOpen[place] ?? false; });
      const input = document.getElementById(part.dataset.input ?? "");
      if (input) {
        if (here.children.length) {
          input.setAttribute("aria-invalid", "true");
          const more = input.closest("details");
          if (more) more.open = true;
        } else input.removeAttribute("aria-invalid");
      }
    }
    if (language && document.getElementById(language)) document.getElementById(language).click();
    for (const button of form.querySelectorAll("[data-copy]")) button.hidden = false;
    const list = form.querySelector(".mailing-list");
    if (list && scrolled) list.scrollTop = scrolled;
    if (focused && document.activeElement === document.body) document.getElementById(focused)?.focus();
    changed();
  };

  const send = async () => {
    clearTimeout(timer);
    const number = ++sent;
    form.setAttribute("aria-busy", "true");
    const body = new FormData(form);
    body.set("do", "show");
    try {
      const answer = await fetch(form.action, { method: "POST", body });
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      // A later one is under way.
      if (number !== sent) return;
      if (page.querySelector("form[data-mailing]")) take(page);
      else throw new Error(answer.status);
    } catch {
      if (number === sent) document.getElementById("part-problems").textContent = gettext("The request could not be sent. Try again.");
    }
    if (number === sent) form.removeAttribute("aria-busy");
  };
  const soon = () => {
    clearTimeout(timer);
    timer = setTimeout(send, PAUSE);
  };

  form.addEventListener("input", (event) => {
    if (event.target.name === "route") addUp();
    else if (event.target.name && event.target.name !== "language") soon();
  });
  form.addEventListener("submit", (event) => {
    if (event.submitter?.value === "save") return;
    event.preventDefault();
    send();
  });
  form.addEventListener("refresh", send);
  form.addEventListener("ticked", addUp);
  changed();
})();
