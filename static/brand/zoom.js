// Shows a page of a proof in print size and enlarged, as sharp as the screen; without script its link opens in a new tab.
(() => {
  const PIXELS_OF_MM = 96 / 25.4;
  // As the address of a page takes it.
  const WIDEST = 3000;
  const FIRST_FACTOR = 2;
  const dialog = document.getElementById("zoom");
  if (!dialog) return;
  const picture = dialog.querySelector("img");
  let link = null;

  const show = (factor) => {
    const width = link.dataset.zoom * PIXELS_OF_MM * factor;
    const address = new URL(link.href);
    address.searchParams.set("width", Math.min(WIDEST, Math.ceil(width * devicePixelRatio)));
    picture.style.width = `${width}px`;
    picture.src = address;
    for (const button of dialog.querySelectorAll("[data-factor]")) {
      button.setAttribute("aria-pressed", String(Number(button.dataset.factor) === factor));
    }
  };

  document.addEventListener("click", (event) => {
    const clicked = event.target.closest("a[data-zoom]");
    if (!clicked || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    link = clicked;
    // The picture of another page must not stand in its place meanwhile.
    picture.removeAttribute("src");
    picture.alt = dialog.querySelector("[data-zoom-title]").textContent = link.querySelector("img").alt;
    show(FIRST_FACTOR);
    dialog.showModal();
  });
  dialog.addEventListener("click", ({ target }) => {
    if (target === dialog || target.closest("[data-zoom-close]")) dialog.close();
    else if (target.dataset.factor) show(Number(target.dataset.factor));
  });
})();
