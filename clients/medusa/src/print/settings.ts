/** The settings. All of them are variables of the environment, so that no secret stands in a file of the shop. */
import { Client } from "store-fulfillment";

export const SCOPES = ["Order.Self.Read", "Order.Self.Write"] as const;

function required(name: string): string {
  const value = process.env[name]?.trim();
  if (!value) throw new Error(`${name} is not set; docs/guides/medusa.md of Store Fulfillment names all variables.`);
  return value;
}

function choice<T extends string>(name: string, allowed: readonly [T, ...T[]]): T {
  const value = process.env[name]?.trim() || allowed[0];
  const found = allowed.find((one) => one === value);
  if (found === undefined) throw new Error(`${name} is "${value}"; it must be one of: ${allowed.join(", ")}.`);
  return found;
}

/** When an order is sent to print: once it is paid in full, or as soon as it is placed. */
export const startsOn = (): "payment" | "order" => choice("FULFILLMENT_START_ON", ["payment", "order"]);

/** The price of a shipping option: the whole bill of the store, or what it costs more than the cheapest way. */
export const shippingPrice = (): "total" | "surcharge" => choice("FULFILLMENT_SHIPPING_PRICE", ["total", "surcharge"]);

/** The newest secret and, while it is being replaced, the one before. */
export function webhookSecrets(): string[] {
  return required("FULFILLMENT_WEBHOOK_SECRETS").split(/[\s,]+/);
}

let made: Client | undefined;

export function client(): Client {
  made ??= new Client({
    baseUrl: required("FULFILLMENT_URL"),
    subscriptionKey: required("FULFILLMENT_SUBSCRIPTION_KEY"),
    credentials: {
      clientId: required("FULFILLMENT_CLIENT_ID"),
      clientSecret: required("FULFILLMENT_CLIENT_SECRET"),
      scopes: SCOPES,
    },
    timeout: 20,
    userAgent: "medusa-plugin-store-fulfillment/0.1.0",
    allowHttp: process.env["FULFILLMENT_ALLOW_HTTP"] === "1",
  });
  return made;
}
