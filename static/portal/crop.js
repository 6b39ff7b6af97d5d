// Lets a person choose the part of a picture that fits its place, and uploads that part.
(() => {
  const LONGEST_SIDE = 6000;
  const STEP = 12;

  for (const field of document.querySelectorAll("[data-crop]")) {
    const shape = Number(field.dataset.crop) || 1;
    const file = field.querySelector("input[type=file]");
    const value = field.querySelector("input[type=hidden]");
    const tools = field.querySelector(".crop");
    const canvas = field.querySelector("canvas");
    const zoom = field.querySelector("[data-zoom]");
    const use = field.querySelector("[data-use]");
    const said = field.querySelector(".crop-said");
    let picture = null;
    let center = { x: 0.5, y: 0.5 };
    let grip = null;

    canvas.width = 720;
    canvas.height = Math.round(720 / shape);

    // The chosen part in pixels of the picture.
    const part = () => {
      const whole = Math.min(picture.width, picture.height * shape) / Number(zoom.value);
      const width = whole;
      const height = whole / shape;
      const left = Math.min(Math.max(center.x * picture.width - width / 2, 0), picture.width - width);
      const top = Math.min(Math.max(center.y * picture.height - height / 2, 0), picture.height - height);
      center = { x: (left + width / 2) / picture.width, y: (top + height / 2) / picture.height };
      return { left, top, width, height };
    };

    const draw = () => {
      if (!picture) return;
      const { left, top, width, height } = part();
      const pen = canvas.getContext("2d");
      pen.clearRect(0, 0, canvas.width, canvas.height);
      pen.drawImage(picture, left, top, width, height, 0, 0, canvas.width, canvas.height);
    };

    const move = (x, y) => {
      const { width, height } = part();
      center.x -= (x / canvas.clientWidth) * (width / picture.width);
      center.y -= (y / canvas.clientHeight) * (height / picture.height);
      draw();
    };

    const upload = async () => {
      const { left, top, width, height } = part();
      const scale = Math.min(1, LONGEST_SIDE / Math.max(width, height));
      const sheet = document.createElement("canvas");
      sheet.width = Math.max(1, Math.round(width * scale));
      sheet.height = Math.max(1, Math.round(height * scale));
      sheet.getContext("2d").drawImage(picture, left, top, width, height, 0, 0, sheet.width, sheet.height);
      const type = file.files[0].type === "image/png" ? "image/png" : "image/jpeg";
      const blob = await new Promise((done) => { sheet.toBlob(done, type, 0.95); });
      const form = field.closest("form");
      const body = new FormData();
      body.set("csrfmiddlewaretoken", form.elements.csrfmiddlewaretoken.value);
      body.set("as", form.elements.as.value);
      body.set("file", blob, "picture");
      const answer = await fetch(form.dataset.picture, { method: "POST", body });
      const content = await answer.json();
      if (!content.AssetID) {
        said.textContent = content.Message ?? gettext("The picture could not be uploaded.");
        return;
      }
      value.value = content.AssetID;
      file.value = "";
      tools.hidden = true;
      said.textContent = [gettext("Uploaded, %s pixels:").replace("%s", `${content.Width} × ${content.Height}`), content.AssetID].join(" ");
      field.dispatchEvent(new Event("picture", { bubbles: true }));
    };

    file.addEventListener("change", async () => {
      said.textContent = "";
      tools.hidden = true;
      if (!file.files[0]) return;
      try {
        picture = await createImageBitmap(file.files[0]);
      } catch {
        said.textContent = gettext("The file is not a readable PNG or JPEG picture.");
        file.value = "";
        return;
      }
      center = { x: 0.5, y: 0.5 };
      zoom.value = 1;
      tools.hidden = false;
      draw();
    });
    zoom.addEventListener("input", draw);
    use.addEventListener("click", async () => {
      use.disabled = true;
      try {
        await upload();
      } catch {
        said.textContent = gettext("The picture could not be uploaded. Check your connection.");
      }
      use.disabled = false;
    });
    canvas.addEventListener("pointerdown", (event) => {
      grip = { x: event.clientX, y: event.clientY };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!grip) return;
      move(event.clientX - grip.x, event.clientY - grip.y);
      grip = { x: event.clientX, y: event.clientY };
    });
    for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, () => { grip = null; });
    canvas.addEventListener("keydown", (event) => {
      const ways = { ArrowLeft: [STEP, 0], ArrowRight: [-STEP, 0], ArrowUp: [0, STEP], ArrowDown: [0, -STEP] };
      if (!ways[event.key]) return;
      event.preventDefault();
      move(...ways[event.key]);
    });
  }
})();
