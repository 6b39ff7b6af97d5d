// Crops and scales a picture of any size to the icon the service takes, and shows it on both grounds before it is sent.
(() => {
  const input = document.querySelector("input[type=file]");
  const complaint = document.querySelector("[data-complaint]");
  const tools = document.querySelector("[data-icon-tools]");
  const zoom = tools.querySelector("input[type=range]");
  const canvas = tools.querySelector("canvas");
  const pen = canvas.getContext("2d");
  const SIDE = 215;
  const MAXIMUM_BYTES = 102400;
  const STEP = 6;
  let picture = null;
  let center = { x: 0.5, y: 0.5 };
  let grip = null;
  let ours = null;
  let unfinished = 0;
  let isWaiting = false;

  // A form that is sent before the picture is ready goes as soon as it is.
  const finish = (work) => async () => {
    unfinished += 1;
    try {
      await work();
    } finally {
      unfinished -= 1;
      if (isWaiting && !unfinished) {
        isWaiting = false;
        input.form.requestSubmit();
      }
    }
  };

  const complain = (text) => {
    complaint.textContent = text;
    complaint.hidden = !text;
  };

  const show = (address) => {
    for (const image of document.querySelectorAll("[data-preview]")) {
      image.src = address;
      image.hidden = false;
    }
    for (const note of document.querySelectorAll("[data-none]")) note.hidden = true;
  };

  const part = () => {
    const side = Math.min(picture.width, picture.height) / Number(zoom.value);
    const left = Math.min(Math.max(center.x * picture.width - side / 2, 0), picture.width - side);
    const top = Math.min(Math.max(center.y * picture.height - side / 2, 0), picture.height - side);
    center = { x: (left + side / 2) / picture.width, y: (top + side / 2) / picture.height };
    return { left, top, side };
  };

  const blobOf = (type, quality) => new Promise((done) => { canvas.toBlob(done, type, quality); });

  // What is sent is what is shown: the cropped picture takes the place of the chosen file.
  const keep = finish(async () => {
    let blob = await blobOf("image/png");
    if (blob.size >= MAXIMUM_BYTES) blob = await blobOf("image/jpeg", 0.92);
    const files = new DataTransfer();
    ours = new File([blob], blob.type === "image/png" ? "icon.png" : "icon.jpg", { type: blob.type });
    files.items.add(ours);
    input.files = files.files;
  });

  const draw = () => {
    if (!picture) return;
    const { left, top, side } = part();
    pen.clearRect(0, 0, SIDE, SIDE);
    pen.imageSmoothingQuality = "high";
    pen.drawImage(picture, left, top, side, side, 0, 0, SIDE, SIDE);
    show(canvas.toDataURL("image/png"));
  };

  const move = (x, y) => {
    const { side } = part();
    center.x -= (x / canvas.clientWidth) * (side / picture.width);
    center.y -= (y / canvas.clientHeight) * (side / picture.height);
    draw();
  };

  const take = finish(async () => {
    const file = input.files[0];
    if (!file || file === ours) return;
    complain("");
    tools.hidden = true;
    try {
      picture = await createImageBitmap(file);
    } catch {
      picture = null;
      complain(gettext("The file is not a readable PNG, JPEG or BMP image."));
      return;
    }
    const fits = picture.width === SIDE && picture.height === SIDE && file.size < MAXIMUM_BYTES;
    center = { x: 0.5, y: 0.5 };
    zoom.value = 1;
    draw();
    if (fits) return;
    tools.hidden = false;
    await keep();
    if (Math.min(picture.width, picture.height) < SIDE) {
      complain(gettext("The picture has %s pixels: it is enlarged to 215 × 215 and may look blurred.").replace("%s", `${picture.width} × ${picture.height}`));
    }
  });

  input.addEventListener("change", take);
  input.form.addEventListener("submit", (event) => {
    if (!unfinished) return;
    event.preventDefault();
    isWaiting = true;
  });
  zoom.addEventListener("input", draw);
  zoom.addEventListener("change", keep);
  canvas.addEventListener("pointerdown", (event) => {
    grip = { x: event.clientX, y: event.clientY };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!grip) return;
    move(event.clientX - grip.x, event.clientY - grip.y);
    grip = { x: event.clientX, y: event.clientY };
  });
  for (const end of ["pointerup", "pointercancel"]) {
    canvas.addEventListener(end, () => {
      grip = null;
      keep();
    });
  }
  canvas.addEventListener("keydown", (event) => {
    const ways = { ArrowLeft: [STEP, 0], ArrowRight: [-STEP, 0], ArrowUp: [0, STEP], ArrowDown: [0, -STEP] };
    if (!ways[event.key]) return;
    event.preventDefault();
    move(...ways[event.key]);
    keep();
  });
  // Chosen before this script came, or kept by the browser over a reload.
  take();
})();
