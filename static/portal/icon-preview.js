// Shows the chosen file on both grounds before it is sent, and says at once what the service would refuse.
(() => {
  const input = document.querySelector("input[type=file]");
  const complaint = document.querySelector("[data-complaint]");
  const SIDE = 215;
  const MAXIMUM_BYTES = 102400;

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

  const judge = () => {
    complain("");
    const file = input.files[0];
    if (!file) return;
    if (file.size >= MAXIMUM_BYTES) {
      complain(`The file has ${file.size.toLocaleString("en")} bytes; an icon is smaller than 102,400 bytes.`);
      return;
    }
    const reader = new FileReader();
    reader.addEventListener("load", () => {
      const probe = new Image();
      probe.addEventListener("error", () => complain("The file is not a readable PNG, JPEG or BMP image."));
      probe.addEventListener("load", () => {
        show(reader.result);
        if (probe.naturalWidth !== SIDE || probe.naturalHeight !== SIDE) {
          complain(`The image has ${probe.naturalWidth} x ${probe.naturalHeight} pixels; an icon has 215 x 215.`);
        }
      });
      probe.src = reader.result;
    });
    reader.readAsDataURL(file);
  };

  input.addEventListener("change", judge);
  // Chosen before this script came, or kept by the browser over a reload.
  judge();
})();
