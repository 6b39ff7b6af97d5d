/** Binding prices: the one that a buyer was shown is the one that is billed. */
import { createHash } from "node:crypto";

import { InvalidRequest, type models } from "store-fulfillment";

import { type PrintQuoteRow, refusal } from "../modules/print/service";
import { prints } from "./container";
import type { Item } from "./lines";
import { client, shippingPrice } from "./settings";

export interface Delivery {
  store_id: string;
  method: string;
}

/** A quote is not used in its last minutes: it would end on the way. */
const MARGIN = 5 * 60_000;
/** How long ended quotes are kept: of a later order it is not known which price its buyer saw. */
const KEPT = 60 * 24 * 60 * 60_000;

/** The binding price, and the one that was shown at a moment, or before it, for the same. */
export async function quoteFor(
  delivery: Delivery,
  items: Item[],
  country: string,
  moment = new Date(),
): Promise<[PrintQuoteRow, PrintQuoteRow | undefined]> {
  const priced = items.map(({ ProductID, Quantity }) => ({ ProductID, Quantity }));
  const digest = createHash("sha256").update(JSON.stringify([delivery, priced, country])).digest("hex");
  // Each stays: other carts with the same content are shown the next one, and this order was shown its own.
  const newestFirst = { order: { expires_at: "DESC" }, take: 100 } as const;
  const known = await prints().listPrintQuotes({ id: { $like: `${digest}%` } }, newestFirst);
  const shown = known.find((one) => one.created_at <= moment);
  const [newest] = known;
  if (newest && newest.expires_at.getTime() - MARGIN > Date.now()) return [newest, shown];
  const quote = await quoteOf(delivery, { Items: priced, ShipTo: { CountryCode: country } });
  const cheapest = [...quote.Options].sort((a, b) => a.Total - b.Total);
  const option = cheapest.find((one) => one.DeliveryMethodCode === delivery.method);
  if (option === undefined) {
    const reasons = quote.Issues.map((issue) => issue.Message).join(" ");
    throw refusal(`${delivery.method} of ${delivery.store_id} does not deliver this to ${country}. ${reasons}`.trim());
  }
  const before = new Date(Date.now() - KEPT);
  const ended = await prints().listPrintQuotes({ expires_at: { $lt: before } }, { select: ["id"], take: 100 });
  if (ended.length > 0) await prints().deletePrintQuotes(ended.map((one) => one.id));
  const made = await prints().createPrintQuotes({
    id: `${digest}-${quote.QuoteID}`,
    quote_id: quote.QuoteID,
    option_id: option.OptionID,
    currency: quote.Currency,
    total: String(option.Total),
    surcharge: (option.Total - (cheapest[0]?.Total ?? option.Total)).toFixed(2),
    expires_at: new Date(quote.ExpiresAt),
  });
  return [made, shown];
}

/** Of all delivery methods. Where these are too many for a quote, of the wanted one: then it has no surcharge. */
async function quoteOf(delivery: Delivery, wanted: models.QuoteRequest): Promise<models.Quote> {
  try {
    return await client().quotes.create(delivery.store_id, wanted);
  } catch (error) {
    const isLong = error instanceof InvalidRequest && error.errors.some((one) => one.code === "too_many_options");
    if (!isLong || shippingPrice() === "surcharge") throw error;
    return client().quotes.create(delivery.store_id, { ...wanted, DeliveryMethodCode: delivery.method });
  }
}

export function requireCurrency(quote: PrintQuoteRow, currency: string): void {
  if (quote.currency.toLowerCase() === currency.toLowerCase()) return;
  throw refusal(`The print store bills in ${quote.currency}, this order is in ${currency.toUpperCase()}; sell it in a region with ${quote.currency}.`);
}
