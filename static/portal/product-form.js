// Sends the form of a product while it is filled in, and takes what has changed out of the answer: the same page.
(() => {
  const form = document.querySelector("form[data-product-form]");
  if (!form) return;
  // Letters are drawn as they are typed; the proof, which is stored, follows when they pause.
  const PAUSE = 600;
  const timers = {};
  let changes = 0;
  let shown = 0;
  let busy = false;
  const waiting = new Map();

  // The stored pictures come first. Sharper ones are drawn and shown when no letter was typed for a while.
  const SHARPEN = 500;
  let sharpening = 0;
  const sharpenSoon = () => {
    clearTimeout(sharpening);
    sharpening = setTimeout(() => {
      for (const image of document.querySelectorAll("#part-proof img[data-sources]")) image.srcset = image.dataset.sources;
    }, SHARPEN);
  };

  const loaded = async (part) => {
    for (const image of part.querySelectorAll("img[srcset]")) {
      image.dataset.sources = image.srcset;
      [image.srcset] = image.srcset.split(", ");
    }
    // The old pictures stay until the new ones can be drawn.
    await Promise.allSettled([...part.querySelectorAll("img")].map((image) => {
      const early = new Image();
      early.src = image.src;
      return early.decode();
    }));
  };

  const put = (part) => {
    const here = document.getElementById(part.id);
    if (!here) return;
    here.replaceChildren(...part.childNodes);
    const input = document.getElementById(part.dataset.input ?? "");
    if (input) {
      if (here.children.length) input.setAttribute("aria-invalid", "true");
      else input.removeAttribute("aria-invalid");
    }
  };

  const take = async (page, action, started, seen) => {
    for (const part of page.querySelectorAll("[data-part]")) {
      if (part.id === "part-proof") {
        // What was typed meanwhile is drawn already, and its own proof follows.
        if (action !== "proof" || changes !== seen || !part.querySelector(".proof-sheet")) continue;
        await loaded(part);
        const said = part.querySelector("[data-said]");
        if (said) said.textContent = `${Math.round(performance.now() - started)} ms`;
      }
      if (part.id === "part-price" && action !== "quote") continue;
      if (part.id === "part-order") {
        // What was entered for the recipient stays, unless another person or application orders.
        const here = document.getElementById(part.id);
        if (!here || here.dataset.actor === part.dataset.actor) continue;
        here.dataset.actor = part.dataset.actor;
      }
      put(part);
      if (part.id === "part-proof") {
        shown = seen;
        sharpenSoon();
      }
    }
    for (const code of page.querySelectorAll("code[id^=code-]")) {
      document.getElementById(code.id).textContent = code.textContent;
    }
  };

  // Pictures were sent when they were chosen.
  const post = (address, name, value) => {
    const body = new FormData(form);
    for (const file of form.querySelectorAll("input[type=file]")) body.delete(file.name);
    body.set(name, value);
    return fetch(address, { method: "POST", body });
  };

  // After a press, as opposed to a pause in typing, the person is led to what is wrong.
  const showMistake = (action) => {
    const wrong = [...form.querySelectorAll("[aria-invalid=true]")].find((input) => isOfPrice(input) === (action === "quote"));
    const problems = document.getElementById("part-problems");
    if (wrong) wrong.focus();
    else if (problems.textContent.trim()) problems.scrollIntoView({ block: "nearest" });
  };

  const send = async (action, isPressed = false) => {
    if (busy) {
      waiting.set(action, isPressed || waiting.get(action));
      return;
    }
    busy = true;
    form.setAttribute("aria-busy", "true");
    const started = performance.now();
    const seen = changes;
    try {
      const answer = await post(location.pathname, "do", action);
      await take(new DOMParser().parseFromString(await answer.text(), "text/html"), action, started, seen);
    } catch {
      const problems = document.getElementById("part-problems");
      problems.textContent = gettext("The request could not be sent. Check your connection.");
    }
    busy = false;
    form.removeAttribute("aria-busy");
    if (isPressed) showMistake(action);
    const [next] = waiting;
    if (next) {
      waiting.delete(next[0]);
      send(...next);
    }
  };

  let drawing = false;
  let drawNext = null;
  const draw = async (input) => {
    const sheets = document.querySelectorAll("#part-proof .proof-sheet img");
    if (!sheets.length || shown === changes || form.elements.press?.checked) return;
    if (drawing) {
      drawNext = input;
      return;
    }
    drawing = true;
    clearTimeout(sharpening);
    try {
      const answer = await post(form.dataset.draft, "typed", input.name);
      const pages = answer.ok ? (await answer.json()).Pages : {};
      for (const [number, picture] of Object.entries(pages)) {
        sheets[number - 1].removeAttribute("srcset");
        sheets[number - 1].src = picture;
      }
    } catch {
      // The proof says what is wrong.
    }
    drawing = false;
    if (drawNext) {
      const next = drawNext;
      drawNext = null;
      draw(next);
    }
  };

  const soon = (action) => {
    clearTimeout(timers[action]);
    timers[action] = setTimeout(send, PAUSE, action);
  };
  const canProof = Boolean(form.querySelector("button[value=proof]"));
  const hasPrices = () => document.getElementById("part-price")?.children.length > 0;
  const isOfPrice = (input) => Boolean(input.closest(".price-form"));

  form.addEventListener("input", (event) => {
    const input = event.target;
    if (!input.name || input.type === "file") return;
    if (input.name === "option" || input.name.startsWith("to-")) return;
    // Prices and orders are those of the actor; without a proof, nothing else brings the order's part.
    if (input.name === "as" && (hasPrices() || !canProof)) soon("quote");
    if (isOfPrice(input)) {
      if (hasPrices()) soon("quote");
    } else if (canProof) {
      changes += 1;
      if (input.name.startsWith("field-")) draw(input);
      soon("proof");
    }
  });
  form.addEventListener("picture", () => canProof && send("proof"));
  form.addEventListener("submit", (event) => {
    const action = event.submitter?.value ?? "proof";
    if (action === "order" || action === "buy") return;
    event.preventDefault();
    clearTimeout(timers[action]);
    send(action, true);
  });
  if ("first" in form.dataset) send("proof");
})();
