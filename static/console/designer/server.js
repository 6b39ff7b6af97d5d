// Requests of the designer to the server, as the same forms that the page without script submits.

import { fieldsOf } from "./store.js";

export function makeServer({ store, addresses, token }) {
  function body(values) {
    const { draft, fields, page, version, samples } = store.state;
    const stored = new Set(fields.map((field) => field.name));
    const fresh = (draft.NewFields || []).filter((entry) => !stored.has(entry.FieldName));
    const form = new FormData();
    form.set("csrfmiddlewaretoken", token);
    form.set("draft", JSON.stringify({ ...draft, NewFields: fresh }));
    form.set("version", String(version));
    form.set("page", String(page));
    for (const { name } of fieldsOf(store.state)) form.set(`sample:${name}`, samples[name] ?? "");
    for (const [name, value] of Object.entries(values)) form.set(name, value);
    return form;
  }

  async function send(address, sent) {
    const answer = await fetch(address, { method: "POST", body: sent, headers: { Accept: "application/json" } }).catch(() => null);
    if (!answer?.ok) throw new Error(reasonOf(answer));
    return answer.json();
  }

  return {
    // It has no files, and is read faster than a form with parts.
    preview: (values) => send(addresses.template_preview, new URLSearchParams(body(values))),
    press: (button, values = {}) => send(addresses.template, body({ ...values, do: button })),
    async colorOf(inks) {
      const query = new URLSearchParams(inks);
      const answer = await fetch(`${addresses.template_color}?${query}`);
      return answer.ok ? (await answer.json()).color : null;
    },
    specimen: (family) => `${addresses.template_font}?${new URLSearchParams({ family })}`,
    // In a tab of its own, by a form: a PDF, or the page that says what is wrong.
    openPdf(name) {
      const form = document.createElement("form");
      Object.assign(form, { method: "post", action: `${addresses.template}${name}`, target: "_blank", hidden: true });
      for (const [key, value] of body({}).entries()) {
        const input = document.createElement("input");
        Object.assign(input, { type: "hidden", name: key, value });
        form.append(input);
      }
      document.body.append(form);
      form.submit();
      form.remove();
    },
  };
}

function reasonOf(answer) {
  if (!answer) return gettext("no connection");
  if (answer.status === 429 || answer.status === 503) return gettext("the service is busy; try again in a moment");
  if (answer.redirected || answer.status === 403) return gettext("you are signed out, or may not change this product any more");
  return interpolate(gettext("the server answered %s"), [answer.status]);
}
