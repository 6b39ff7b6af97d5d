/** Orders at the print store what a fulfilment holds. */
import { createHash } from "node:crypto";

import { ApiError, Conflict, InvalidRequest, type models, NotFound, RateLimited, ServerError } from "store-fulfillment";

import { type OrderChanges, type PrintOrderRow, refusal } from "../modules/print/service";
import { prints, read } from "./container";
import { wordsOf } from "./errors";
import { itemsOf, type Line, titlesOf } from "./lines";
import { type Delivery, quoteFor, requireCurrency } from "./prices";
import { client } from "./settings";

export interface Address {
  first_name?: string | null;
  last_name?: string | null;
  company?: string | null;
  address_1?: string | null;
  address_2?: string | null;
  city?: string | null;
  province?: string | null;
  postal_code?: string | null;
  country_code?: string | null;
  phone?: string | null;
}

export interface Wanted {
  order_id: string;
  display_id: string;
  currency: string;
  fulfillment_id: string;
  delivery: Delivery;
  address: Address;
  lines: Line[];
  ordered: Line[];
}

/** The row of the order, which is then at the print store; otherwise it throws, and the row says why. */
export async function place(wanted: Wanted): Promise<PrintOrderRow> {
  const shop = await shopOrder(wanted.order_id);
  const row = await prints().claim({
    order_id: wanted.order_id,
    fulfillment_id: wanted.fulfillment_id,
    store_id: wanted.delivery.store_id,
    lines: quantitiesOf(wanted.lines),
    ordered: quantitiesOf(wanted.ordered),
    linked: shop.fulfillments,
  });
  if (row.state === "placed") return row;
  try {
    const order = await arrived(row) ?? await send(row, wanted, shop.placed);
    // Without status until it was followed: the order of an earlier try may have shipped since.
    return await prints().updatePrintOrders({ id: row.id, state: "placed", problem: null, ...recordOf(order), status: null });
  } catch (error) {
    const isRefused = !isPassing(error);
    const problem = wordsOf(error);
    await prints().updatePrintOrders({ id: row.id, state: isRefused ? "held" : "open", claimed_at: null, problem });
    throw refusal(problem);
  }
}

function quantitiesOf(lines: Line[]): Record<string, number> {
  return Object.fromEntries(lines.map((line) => [line.id, Number(line.quantity)]));
}

/** When the buyer placed the order, and its fulfilments. */
async function shopOrder(id: string): Promise<{ placed: Date; fulfillments: string[] }> {
  interface Found {
    created_at?: string | Date;
    fulfillments?: Array<{ id: string }>;
  }
  const [order] = await read<Found>("order", ["id", "created_at", "fulfillments.id"], { id });
  return { placed: new Date(order?.created_at ?? Date.now()), fulfillments: (order?.fulfillments ?? []).map((one) => one.id) };
}

/** What an earlier try left at the store. */
async function arrived(row: PrintOrderRow): Promise<models.Order | undefined> {
  try {
    return await client().orders.get(row.store_id, `@${row.external_id}`);
  } catch (error) {
    if (error instanceof NotFound) return undefined;
    throw error;
  }
}

async function send(row: PrintOrderRow, wanted: Wanted, placed: Date): Promise<models.Order> {
  const items = await itemsOf(wanted.lines, row.store_id);
  const recipient = recipientOf(wanted.address);
  const [quote, before] = await quoteFor(wanted.delivery, items, recipient.CountryCode, placed);
  requireCurrency(quote, wanted.currency);
  // A held row has the total that it was refused at: who retries it accepts that.
  if (before && Number(quote.total) > Math.max(Number(before.total), Number(row.total ?? 0))) {
    await prints().updatePrintOrders({ id: row.id, total: quote.total });
    throw refusal(`The price rose from ${before.total} to ${quote.total} ${quote.currency} since the buyer saw it; retry to accept it.`);
  }
  const body = {
    ExternalID: row.external_id,
    QuoteID: quote.quote_id,
    OptionID: quote.option_id,
    Recipient: recipient,
    Items: items,
    Metadata: { ShopOrder: wanted.display_id },
  };
  // The shop's IDs and what is ordered: a corrected order is another request, and the ExternalID keeps it single.
  const digest = createHash("sha256").update(JSON.stringify(body)).digest("hex").slice(0, 16);
  try {
    return await client().orders.create(row.store_id, body, { idempotencyKey: `${row.external_id}-${digest}` });
  } catch (error) {
    const found = error instanceof Conflict && error.code === "external_id_exists" ? await arrived(row) : undefined;
    if (found === undefined) throw error instanceof InvalidRequest ? refusal(wordsOf(error, titlesOf(items, wanted.lines))) : error;
    return found;
  }
}

/** Whether the same request may succeed later without a person. */
function isPassing(error: unknown): boolean {
  if (!(error instanceof ApiError)) return error instanceof Error && error.constructor.name !== "MedusaError";
  if (error instanceof Conflict) return error.code === "request_in_progress";
  return error instanceof ServerError || error instanceof RateLimited;
}

function recipientOf(address: Address): models.RecipientRequest {
  const country = (address.country_code ?? "").toUpperCase();
  // Medusa writes some provinces as ISO 3166-2, such as us-co.
  const state = (address.province ?? "").replace(new RegExp(`^${country}-`, "i"), "");
  return {
    Name: `${address.first_name ?? ""} ${address.last_name ?? ""}`.trim(),
    Company: address.company ?? null,
    Address1: address.address_1 ?? "",
    Address2: address.address_2 ?? null,
    City: address.city ?? "",
    State: state.length <= 3 ? state.toUpperCase() : state,
    PostalCode: address.postal_code ?? "",
    CountryCode: country,
    Phone: address.phone ?? null,
  };
}

/** What the row keeps of an order. */
export function recordOf(order: models.Order): OrderChanges {
  return {
    print_order_id: order.OrderID,
    print_order_number: order.OrderNumber,
    status: order.Status,
    status_name: order.StatusName,
    sequence: order.Sequence,
    is_test: order.IsTest,
    currency: order.Currency,
    total: String(order.Total),
    shipments: order.Shipments as unknown as Record<string, unknown>,
    cancellation: order.Cancellation?.State ?? null,
  };
}
