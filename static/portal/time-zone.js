// A new account begins with the time zone of its browser.
(() => {
  const input = document.querySelector("input[name=time_zone]");
  if (input) input.value = Intl.DateTimeFormat().resolvedOptions().timeZone ?? "";
})();
