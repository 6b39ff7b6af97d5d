"use strict";

// The template editor's live side: the picture follows the inputs, boxes are dragged on it. The inputs remain
// the truth; without this script every button sends the form and the page comes back with a new picture.
(() => {
  const MM = { step: 0.5, fine: 0.1, smallest: 0.5 };
  const KEYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

  let form = document.getElementById("template-editor");
  if (!form) return;
  let busy = null;
  let again = false;
  let changed = form.dataset.unsaved !== undefined;

  const input = (number, name) => form.elements[`box-${number}-${name}`];
  const numberIn = (field, otherwise) => {
    const value = field && field.value.trim() !== "" ? Number(field.value.replace(",", ".")) : NaN;
    return Number.isFinite(value) ? value : otherwise;
  };
  const pageSize = () => ({
    width: numberIn(form.elements["page-WidthMM"], 0),
    height: numberIn(form.elements["page-HeightMM"], 0),
  });
  const placeOf = (number) => ({
    X: numberIn(input(number, "X"), 0),
    Y: numberIn(input(number, "Y"), 0),
    Width: numberIn(input(number, "Width"), MM.smallest),
    Height: numberIn(input(number, "Height"), MM.smallest),
    Rotation: numberIn(input(number, "Rotation"), 0),
  });

  function write(number, values) {
    for (const [name, value] of Object.entries(values)) {
      const field = input(number, name);
      if (field) field.value = String(Math.round(value * 10) / 10);
    }
    placeHandle(number);
    touched();
  }

  // --- the picture ---------------------------------------------------------------------------------------

  function touched() {
    changed = true;
    showPicture();
  }

  // One request at a time; what changes meanwhile is asked for as soon as the answer is there.
  async function showPicture() {
    if (busy) {
      again = true;
      return;
    }
    const asked = form;
    const body = new FormData(asked);
    body.delete("file");
    body.set("pixels", String(Math.round(stage().clientWidth * Math.min(window.devicePixelRatio || 1, 2))));
    const started = performance.now();
    busy = fetch(asked.dataset.preview, { method: "POST", body, headers: { Accept: "application/json" } });
    try {
      const answer = await busy;
      if (!answer.ok) throw new Error(`${answer.status}`);
      const found = await answer.json();
      if (asked === form) {
        await showAnswer(found);
        form.dataset.milliseconds = String(Math.round(performance.now() - started));
      }
    } catch (error) {
      say(`The picture could not be made (${error.message}). Your work is still in the form.`);
    } finally {
      busy = null;
      if (again) {
        again = false;
        showPicture();
      }
    }
  }

  const stage = () => form.querySelector(".te-stage");

  async function showAnswer(found) {
    const picture = form.querySelector("#te-picture");
    // While the page itself is wrong, its last good picture stays.
    if (found.picture) {
      picture.src = found.picture;
      await picture.decode().catch(() => {});
      picture.hidden = false;
    }
    form.querySelector(".te-none").hidden = !picture.hidden;
    showFaults(found.faults);
    placeHandles();
  }

  function showFaults(faults) {
    const byPlace = new Map();
    for (const fault of faults) byPlace.set(fault.pointer, [...(byPlace.get(fault.pointer) || []), fault.message]);
    for (const field of form.querySelectorAll("[data-pointer]")) {
      const said = byPlace.get(field.dataset.pointer) || [];
      const control = field.querySelector("input, select, textarea");
      const place = field.querySelector(".console-error");
      if (place) {
        place.hidden = said.length === 0;
        place.textContent = said.join(" ");
      }
      if (said.length === 0) control.removeAttribute("aria-invalid");
      else control.setAttribute("aria-invalid", "true");
    }
    const list = form.querySelector("#te-faults");
    list.replaceChildren();
    if (faults.length === 0) return;
    const box = document.createElement("div");
    box.className = "console-alert console-wrong";
    const head = document.createElement("p");
    const bold = document.createElement("b");
    bold.textContent = `${faults.length} problem${faults.length > 1 ? "s" : ""} to fix`;
    head.append(bold);
    const items = document.createElement("ul");
    for (const fault of faults) {
      const item = document.createElement("li");
      const place = document.createElement("b");
      place.textContent = fault.place ? `${fault.place}: ` : "";
      item.append(place, fault.message);
      items.append(item);
    }
    box.append(head, items);
    list.append(box);
  }

  function say(text) {
    form.querySelector("#te-said").textContent = text;
  }

  // --- boxes on the picture --------------------------------------------------------------------------------

  function makeHandles() {
    const handles = form.querySelector(".te-handles");
    handles.replaceChildren();
    for (const box of form.querySelectorAll(".te-box")) {
      const handle = document.createElement("button");
      handle.type = "button";
      handle.className = "te-handle";
      handle.dataset.box = box.dataset.box;
      const grip = document.createElement("span");
      grip.className = "te-grip";
      handle.append(grip);
      handles.append(handle);
    }
    placeHandles();
  }

  function placeHandles() {
    for (const handle of form.querySelectorAll(".te-handle")) placeHandle(handle.dataset.box);
  }

  function placeHandle(number) {
    const handle = form.querySelector(`.te-handle[data-box="${number}"]`);
    const { width, height } = pageSize();
    if (!handle || !width || !height) return;
    const at = placeOf(number);
    handle.style.left = `${(at.X / width) * 100}%`;
    handle.style.top = `${(at.Y / height) * 100}%`;
    handle.style.width = `${(at.Width / width) * 100}%`;
    handle.style.height = `${(at.Height / height) * 100}%`;
    handle.style.transform = at.Rotation ? `rotate(${at.Rotation}deg)` : "";
    const title = form.querySelector(`.te-box[data-box="${number}"] summary`).textContent.trim().replace(/\s+/g, " ");
    handle.setAttribute(
      "aria-label",
      `${title}: ${at.X} mm from the left, ${at.Y} mm from the top, ${at.Width} by ${at.Height} mm`,
    );
  }

  function choose(number) {
    for (const handle of form.querySelectorAll(".te-handle")) {
      handle.classList.toggle("te-chosen", handle.dataset.box === String(number));
    }
    for (const box of form.querySelectorAll(".te-box")) box.open = box.dataset.box === String(number);
  }

  function startDrag(event) {
    const handle = event.target.closest(".te-handle");
    if (!handle || event.button !== 0) return;
    event.preventDefault();
    handle.focus();
    choose(handle.dataset.box);
    const resizes = event.target.classList.contains("te-grip");
    const begun = placeOf(handle.dataset.box);
    const area = stage().getBoundingClientRect();
    const scale = pageSize().width / area.width;
    handle.setPointerCapture(event.pointerId);

    function move(to) {
      const across = (to.clientX - event.clientX) * scale;
      const down = (to.clientY - event.clientY) * scale;
      write(handle.dataset.box, resizes ? resized(begun, across, down) : { X: begun.X + across, Y: begun.Y + down });
    }
    function end() {
      handle.removeEventListener("pointermove", move);
      handle.removeEventListener("pointerup", end);
      handle.removeEventListener("pointercancel", end);
    }
    handle.addEventListener("pointermove", move);
    handle.addEventListener("pointerup", end);
    handle.addEventListener("pointercancel", end);
  }

  const resized = (at, across, down) => ({
    Width: Math.max(MM.smallest, at.Width + across),
    Height: Math.max(MM.smallest, at.Height + down),
  });

  function moveByKey(event) {
    const handle = event.target.closest(".te-handle");
    const direction = KEYS[event.key];
    if (!handle || !direction) return;
    event.preventDefault();
    const by = event.altKey ? MM.fine : MM.step;
    const at = placeOf(handle.dataset.box);
    const [across, down] = [direction[0] * by, direction[1] * by];
    write(handle.dataset.box, event.shiftKey ? resized(at, across, down) : { X: at.X + across, Y: at.Y + down });
    const now = placeOf(handle.dataset.box);
    say(event.shiftKey ? `${now.Width} by ${now.Height} mm` : `${now.X} mm, ${now.Y} mm`);
  }

  // --- buttons: the same requests as without this script, without leaving the page -------------------------

  async function press(button) {
    if (button.dataset.ask && !window.confirm(button.dataset.ask)) return;
    const body = new FormData(form, button);
    const scrolled = form.querySelector(".te-form").scrollTop;
    form.setAttribute("aria-busy", "true");
    try {
      const answer = await fetch(form.action, { method: "POST", body });
      const text = await answer.text();
      const made = new DOMParser().parseFromString(text, "text/html").getElementById("template-editor");
      if (!made) throw new Error(`${answer.status}`);
      form.replaceWith(made);
      form = made;
      changed = true;
      begin();
      form.querySelector(".te-form").scrollTop = scrolled;
      const next = form.querySelector("[data-focus]");
      if (next) {
        next.focus();
        choose(next.closest(".te-box").dataset.box);
      }
    } catch (error) {
      form.removeAttribute("aria-busy");
      say(`That did not work (${error.message}). Your work is still in the form.`);
    }
  }

  function begin() {
    for (const note of form.querySelectorAll(".te-plain")) note.hidden = true;
    form.querySelector(".te-keys").hidden = false;
    makeHandles();

    form.addEventListener("input", (event) => {
      if (event.target.type === "file") return;
      if (event.target.dataset.again === undefined) {
        const box = event.target.closest(".te-box");
        if (box) placeHandle(box.dataset.box);
        else placeHandles();
        touched();
      }
    });
    form.addEventListener("change", (event) => {
      const enter = form.querySelector(".te-enter");
      if (event.target.dataset.again !== undefined) {
        const box = event.target.closest(".te-box").dataset.box;
        press(enter).then(() => choose(box));
      }
      if (event.target.id === "te-file") press(form.querySelector('[value="upload"]'));
    });
    form.addEventListener("submit", (event) => {
      const button = event.submitter;
      if (!button || button.dataset.download !== undefined) return;
      if (button.value.startsWith("save")) {
        changed = false;
        return;
      }
      event.preventDefault();
      press(button);
    });
    form.querySelector(".te-handles").addEventListener("pointerdown", startDrag);
    form.querySelector(".te-handles").addEventListener("keydown", moveByKey);
    form.querySelector(".te-handles").addEventListener("focusin", (event) => {
      const handle = event.target.closest(".te-handle");
      if (handle) choose(handle.dataset.box);
    });
  }

  window.addEventListener("beforeunload", (event) => {
    if (changed) event.preventDefault();
  });
  begin();
})();
