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
