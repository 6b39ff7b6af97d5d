"use strict";

const ui = SwaggerUIBundle({
  url: "/api/v1/schema",
  dom_id: "#console",
  deepLinking: true,
  persistAuthorization: false,
  displayRequestDuration: true,
  tryItOutEnabled: true,
  defaultModelsExpandDepth: 0,
  oauth2RedirectUrl: `${window.location.origin}/api/v1/docs/oauth2-redirect`,
});

ui.initOAuth({
  clientId: "api-console",
  usePkceWithAuthorizationCodeGrant: true,
  scopes: ["Application.Self.Read", "Store.Self.Read", "Order.Self.Read"],
});

// Swagger UI leaves inputs without a name, and puts a link into a button; it draws them anew with every change.
function mend() {
  for (const control of document.querySelectorAll(".swagger-ui :is(select, input, textarea):not([aria-label])")) {
    if (control.labels && control.labels.length > 0 && !control.closest(".servers")) continue;
    const row = control.closest("tr");
    const name = row && row.querySelector(".parameter__name");
    let label = name ? name.textContent.replace("*", "").trim() : "Value";
    if (control.closest(".servers")) label = "Server";
    if (control.classList.contains("examples-select-element")) label = "Example";
    if (control.tagName === "TEXTAREA" && !name) label = "Request body";
    control.setAttribute("aria-label", label);
  }
  for (const link of document.querySelectorAll(".opblock-summary-control a[href]")) link.removeAttribute("href");
  for (const [part, name] of [[".information-container", "About"], [".schemes-server-container", "Server and keys"]]) {
    const place = document.querySelector(`#console ${part}`);
    if (!place || place.role) continue;
    place.role = "region";
    place.ariaLabel = name;
  }
  // Its heads leave out the second level.
  for (const head of document.querySelectorAll(".swagger-ui :is(h3, h4, h5)")) head.ariaLevel = head.tagName[1] - 1;
  for (const area of document.querySelectorAll(".swagger-ui pre.microlight:not([tabindex])")) area.tabIndex = 0;
}
new MutationObserver(mend).observe(document.getElementById("console"), { childList: true, subtree: true });
