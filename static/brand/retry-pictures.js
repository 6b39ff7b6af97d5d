// The server draws a picture when it is first shown. Where all renderers are busy then, it is loaded again, three times at most.
document.addEventListener(
  "error",
  (event) => {
    const picture = event.target;
    const tries = Number(picture.dataset?.retry || 0);
    if (!(picture instanceof HTMLImageElement) || picture.dataset.retry === undefined || tries >= 3) return;
    picture.dataset.retry = tries + 1;
    const source = picture.src;
    setTimeout(() => { picture.src = source; }, 2000 * (tries + 1));
  },
  true,
);
