/** What an endpoint of yours does with a request of the service. */
import { Webhook, WebhookVerificationError } from "standardwebhooks";

import type { Event } from "./models.js";

export { WebhookVerificationError };

/**
 * The event, if its signature is of this secret and not older than five minutes.
 * `body` is the very text that came. Anything else throws `WebhookVerificationError`.
 */
export function verifyWebhook(
  secret: string,
  body: string | Uint8Array,
  headers: Headers | Readonly<Record<string, string | string[] | undefined>>,
): Event {
  const text = typeof body === "string" ? body : new TextDecoder().decode(body);
  const named: Record<string, string> = {};
  const pairs = headers instanceof Headers ? [...headers] : Object.entries(headers);
  for (const [name, value] of pairs) if (typeof value === "string") named[name.toLowerCase()] = value;
  new Webhook(secret).verify(text, named);
  return JSON.parse(text) as Event;
}
