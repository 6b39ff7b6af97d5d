// The service draws a picture when it is first shown, and refuses some while it is busy. Refused pictures are loaded again,
// one after the other, after Retry-After. Until then, and when all tries failed, the placeholder is shown.
(() => {
  const PICTURES = "img[data-retry]";
  const REFUSED = [429, 502, 503, 504];
  // Seconds before the first retry: scripts cannot read the headers of an `img`.
  const PAUSE = 2;
  const LONGEST_PAUSE = 30;
  // Refusals in a row, of all pictures of the page, and loads of one picture.
  const REFUSALS = 8;
  const LOADS = 3;
  const waiting = new Set();
  let isBusy = false;

  const pause = (seconds) => new Promise((over) => { setTimeout(over, 1000 * Math.min(seconds, LONGEST_PAUSE)); });

  const request = async (address) => {
    try {
      const answer = await fetch(address);
      // Whole, so that the picture comes out of the cache.
      await answer.blob();
      return answer;
    } catch {
      return null;
    }
  };

  const loadAgain = async () => {
    let refusals = 0;
    let seconds = PAUSE;
    while (waiting.size && refusals < REFUSALS) {
      await pause(seconds);
      const [picture] = waiting;
      const answer = await request(picture.currentSrc || picture.src);
      if (!answer || REFUSED.includes(answer.status)) {
        refusals += 1;
        seconds = Number(answer?.headers.get("Retry-After")) || PAUSE;
        continue;
      }
      waiting.delete(picture);
      refusals = seconds = 0;
      if (answer.ok) {
        const address = picture.src;
        picture.src = address;
      }
    }
    waiting.clear();
  };

  const refused = async (picture) => {
    const loads = Number(picture.dataset.retry);
    if (loads >= LOADS || !/^https?:/.test(picture.src)) return;
    picture.dataset.retry = loads + 1;
    waiting.add(picture);
    if (isBusy) return;
    isBusy = true;
    await loadAgain();
    isBusy = false;
  };

  document.addEventListener("error", ({ target }) => target.matches?.(PICTURES) && refused(target), true);
  // Those that were refused before this script ran.
  for (const picture of document.querySelectorAll(PICTURES)) if (picture.complete && !picture.naturalWidth) refused(picture);
})();
