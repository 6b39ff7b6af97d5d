// A sign-in and a new account bring the time zone of the browser; the profile offers it.
(() => {
  const input = document.querySelector("[name=time_zone]");
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone ?? "";
  if (input?.type === "hidden") input.value = zone;
  if (!input?.options || input.value === zone || ![...input.options].some((one) => one.value === zone)) return;
  const use = Object.assign(document.createElement("button"), { type: "button", className: "button button-quiet button-small section-note" });
  use.textContent = gettext("Use %s, as in this browser").replace("%s", zone.replaceAll("_", " "));
  use.addEventListener("click", () => {
    input.value = zone;
    input.focus();
    use.remove();
  });
  input.closest(".field").append(use);
})();
