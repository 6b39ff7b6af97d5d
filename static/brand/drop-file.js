// A file dropped on a form takes the place of the chosen one, and is sent at once.
(() => {
  const form = document.querySelector("form[data-drop]");
  if (!form) return;
  const area = form.querySelector(".artwork-drop");
  const input = form.querySelector("input[type=file]");
  const sending = form.querySelector("[data-sending]");

  // Choosing a file sends it.
  area.querySelector("button").hidden = true;
  form.addEventListener("submit", () => { sending.hidden = false; });
  // A page that is shown again from the memory of the browser sends nothing.
  window.addEventListener("pageshow", () => { sending.hidden = true; });
  input.addEventListener("change", () => { if (input.files.length) form.requestSubmit(); });
  for (const kind of ["dragenter", "dragover"]) {
    area.addEventListener(kind, (event) => {
      event.preventDefault();
      area.classList.add("artwork-over");
    });
  }
  area.addEventListener("dragleave", (event) => {
    if (!area.contains(event.relatedTarget)) area.classList.remove("artwork-over");
  });
  area.addEventListener("drop", (event) => {
    event.preventDefault();
    area.classList.remove("artwork-over");
    const [file] = event.dataTransfer.files;
    if (!file) return;
    const files = new DataTransfer();
    files.items.add(file);
    input.files = files.files;
    form.requestSubmit();
  });
})();
