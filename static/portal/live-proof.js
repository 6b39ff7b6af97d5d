// The card of the start page follows the name while it is typed; one request at a time, the latest name wins.
(() => {
  const form = document.querySelector("form[data-live]");
  if (!form) return;
  const input = form.querySelector("input[name=name]");
  const picture = document.querySelector(".live-picture");
  const said = document.querySelector("[data-live-said]");
  const usual = input.placeholder;
  let busy = false;
  let shown = input.value;
  let retry = 0;

  const say = (text, isError = false) => {
    said.textContent = text;
    said.classList.toggle("live-error", isError);
    input.toggleAttribute("aria-invalid", false);
    if (isError) input.setAttribute("aria-invalid", "true");
  };

  const show = async (name) => {
    const started = performance.now();
    const answer = await fetch(`${form.dataset.live}?name=${encodeURIComponent(name)}`);
    const content = await answer.json();
    if (!answer.ok) {
      // A limit or a full lane: what is typed last is tried again.
      if (answer.status === 429 || answer.status === 503) {
        const seconds = Number(answer.headers.get("Retry-After") || 2);
        clearTimeout(retry);
        retry = setTimeout(() => { shown = null; follow(); }, seconds * 1000);
      }
      say(content.Message, answer.status === 400);
      return;
    }
    const next = new Image();
    next.src = content.Picture;
    await next.decode();
    picture.src = content.Picture;
    picture.alt = gettext("Proof of a business card for %s").replace("%s", name.trim() || usual);
    for (const [language, text] of Object.entries(content.Code)) {
      document.getElementById(`live-${language}`).textContent = text;
    }
    const milliseconds = Math.round(performance.now() - started);
    said.dataset.milliseconds = milliseconds;
    say(gettext("Typeset and shown in %s ms.").replace("%s", milliseconds));
  };

  const follow = async () => {
    if (busy || input.value === shown) return;
    busy = true;
    const name = input.value;
    shown = name;
    try {
      await show(name);
    } catch {
      say(gettext("The proof could not be loaded. Check your connection."), true);
    }
    busy = false;
    follow();
  };

  for (const button of form.querySelectorAll("[data-without-script]")) button.hidden = true;
  form.addEventListener("submit", (event) => { event.preventDefault(); follow(); });
  input.addEventListener("input", follow);
})();
