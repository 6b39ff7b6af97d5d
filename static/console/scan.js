// Scans are kept on the device until the service has answered them. Each has an ID, so that one sent twice counts once.
"use strict";

class Scans {
  static ANSWERS = new Set([200, 400, 404, 409]);
  static RETRY_MS = 3000;
  static SHOWN = 50;

  constructor(form, log) {
    this.form = form;
    this.log = log;
    this.prefix = `scan:${form.dataset.scan}:`;
    this.code = form.elements.code;
    this.waiting = form.querySelector("[data-waiting]");
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.take();
    });
    form.elements.pieces.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      this.code.focus();
    });
    form.addEventListener("change", (event) => {
      if (event.target.name !== "step") return;
      (event.target.value === "Missing" ? form.elements.pieces : this.code).focus();
    });
    // A scanner is a fast keyboard: what it types anywhere on the page is a code.
    document.addEventListener("keydown", (event) => {
      const isText = event.target.matches("input:not([type=radio]), textarea, button, a");
      if (event.key.length === 1 && !event.ctrlKey && !event.metaKey && !event.altKey && !isText) this.code.focus();
    });
    const camera = form.querySelector("[data-camera]");
    if (window.BarcodeDetector && navigator.mediaDevices) {
      camera.hidden = false;
      camera.addEventListener("click", () => new Camera(this, camera).start());
    }
    addEventListener("online", () => this.send());
    setInterval(() => this.send(), Scans.RETRY_MS);
    this.send();
  }

  take() {
    const code = this.code.value.trim();
    this.code.value = "";
    this.code.focus();
    if (code) this.keep(code);
  }

  keep(code) {
    const { step, pieces } = this.form.elements;
    const isMissing = step.value === "Missing";
    const scan = { id: crypto.randomUUID(), code, step: step.value, pieces: isMissing ? pieces.value : "", at: new Date().toISOString() };
    try {
      localStorage.setItem(`${this.prefix}${scan.at}:${scan.id}`, JSON.stringify(scan));
    } catch {
      this.code.value = code;
      this.note(interpolate(gettext("%s: not recorded. This device keeps no more scans: wait until they are sent, and scan it again."), [code]), true);
      return;
    }
    if (isMissing) {
      // The next scan is hardly one of as many missing pieces.
      pieces.value = "";
      this.form.querySelector("[name=step]").checked = true;
    }
    this.send();
  }

  kept() {
    return Object.keys(localStorage).filter((key) => key.startsWith(this.prefix)).sort();
  }

  async send() {
    this.show();
    if (this.isSending) return;
    this.isSending = true;
    try {
      for (let keys = this.kept(); keys.length; keys = this.kept()) {
        const scan = JSON.parse(localStorage.getItem(keys[0]));
        const answer = await this.sent(scan);
        localStorage.removeItem(keys[0]);
        this.note(answer.words || `${scan.code}: ${answer.problem}`, !answer.words);
        this.show();
      }
    } catch (error) {
      this.show(error.message);
    } finally {
      this.isSending = false;
    }
  }

  async sent(scan) {
    const token = this.form.elements.csrfmiddlewaretoken.value;
    const body = new URLSearchParams({ ...scan, csrfmiddlewaretoken: token });
    let response;
    try {
      response = await fetch(location.pathname, { method: "POST", body, redirect: "manual", signal: AbortSignal.timeout(10_000) });
      if (Scans.ANSWERS.has(response.status)) return await response.json();
    } catch {
      throw new Error(gettext("no connection"));
    }
    const isSignedOut = response.type === "opaqueredirect" || response.status === 403;
    throw new Error(isSignedOut ? gettext("reload the page and sign in") : gettext("the service is busy"));
  }

  show(reason = "") {
    const count = this.kept().length;
    const words = ngettext("%(count)s scan kept on this device: %(reason)s.", "%(count)s scans kept on this device: %(reason)s.", count);
    const shown = count && reason ? interpolate(words, { count, reason }, true) : count ? this.waiting.textContent : "";
    if (this.waiting.textContent !== shown) this.waiting.textContent = shown;
  }

  note(words, isProblem) {
    const line = document.createElement("li");
    line.textContent = words;
    line.className = isProblem ? "console-error" : "";
    this.log.prepend(line);
    while (this.log.children.length > Scans.SHOWN) this.log.lastElementChild.remove();
  }
}

// Chromium on phones reads bar codes from the camera. A code in view counts again once it was out of view.
class Camera {
  static LOOK_MS = 200;
  static FORMATS = ["code_128", "qr_code"];
  static AWAY_MS = 2000;

  constructor(scans, button) {
    this.scans = scans;
    this.button = button;
    this.video = scans.form.querySelector("video");
  }

  async start() {
    this.button.disabled = true;
    try {
      this.stream = await navigator.mediaDevices.getUserMedia({ video: { facingMode: "environment" } });
      this.detector = new BarcodeDetector({ formats: Camera.FORMATS });
      this.video.srcObject = this.stream;
      this.video.hidden = false;
      await this.video.play();
      this.look();
    } catch {
      this.scans.note(gettext("The camera cannot be used. Allow it in the browser, or type the number."), true);
      this.button.disabled = false;
    }
  }

  async look() {
    try {
      for (const { rawValue } of await this.detector.detect(this.video)) this.see(rawValue.trim());
    } catch {
      // A frame that is not ready.
    }
    setTimeout(() => this.look(), Camera.LOOK_MS);
  }

  see(code) {
    const now = performance.now();
    const isNew = code && (code !== this.code || now - this.seen > Camera.AWAY_MS);
    this.code = code;
    this.seen = now;
    if (!isNew) return;
    navigator.vibrate?.(60);
    this.scans.keep(code);
  }
}

const form = document.querySelector("form[data-scan]");
if (form) new Scans(form, document.querySelector("[data-log]"));
