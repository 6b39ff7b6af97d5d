/** Brings what the print store reports into the shop: shipments, deliveries and cancellations. */
import { Modules } from "@medusajs/framework/utils";
import {
  cancelOrderFulfillmentWorkflow,
  createOrderShipmentWorkflow,
  markOrderFulfillmentAsDeliveredWorkflow,
} from "@medusajs/medusa/core-flows";
import { type models } from "store-fulfillment";

import { type OrderChanges, type PrintOrderRow, total } from "../modules/print/service";
import { container, logger, prints, read } from "./container";
import { wordsOf } from "./errors";
import { recordOf } from "./place";
import { client } from "./settings";

const SHIPPED = [60, 70, 80];
const DELIVERED = 70;
const RETURNED = 80;
export const ENDED = [90, 95];
const LOCK_SECONDS = 30;

interface Fulfillment {
  id: string;
  shipped_at: unknown;
  delivered_at: unknown;
  canceled_at: unknown;
  items: Array<{ line_item_id: string; quantity: unknown }>;
}

/** Reads the order of this ExternalID and follows it. Events only say that there is news; they may be old. */
export async function follow(externalId: string): Promise<void> {
  const [known] = await prints().listPrintOrders({ external_id: externalId });
  // Of another shop, or not answered yet: then the next try or poll finds it.
  if (known?.state !== "placed") return;
  await container.resolve(Modules.LOCKING).execute(
    `print:${externalId}`,
    async () => {
      const order = await client().orders.get(known.store_id, `@${externalId}`);
      await bring(known, order);
      await prints().recordChanges(known.id, await changesOf(order));
    },
    { timeout: LOCK_SECONDS },
  );
}

/** Each step looks first whether it was done: a report comes more than once. */
async function bring(row: PrintOrderRow, order: models.Order): Promise<void> {
  const fields = ["id", "shipped_at", "delivered_at", "canceled_at", "items.line_item_id", "items.quantity"];
  const [fulfillment] = await read<Fulfillment>("fulfillment", fields, { id: row.fulfillment_id });
  if (fulfillment === undefined || fulfillment.canceled_at) return;
  const input = { order_id: row.order_id, fulfillment_id: fulfillment.id };
  if (SHIPPED.includes(order.Status) && !fulfillment.shipped_at) {
    const items = fulfillment.items.map((item) => ({ id: item.line_item_id, quantity: Number(item.quantity) }));
    await registerLost(row.order_id, fulfillment.id, items);
    await createOrderShipmentWorkflow(container).run({ input: { ...input, items, labels: labelsOf(order) } });
  }
  if (order.Status === DELIVERED && !fulfillment.delivered_at) {
    await markOrderFulfillmentAsDeliveredWorkflow(container).run({ input: { orderId: row.order_id, fulfillmentId: fulfillment.id } });
  }
  if (order.Status === RETURNED) await requestReturn(row.order_id, fulfillment);
  if (ENDED.includes(order.Status) && !fulfillment.shipped_at) await cancelOrderFulfillmentWorkflow(container).run({ input });
}

/** A kill may leave a fulfilment on its order that the order does not count; it would refuse the shipment. */
async function registerLost(orderId: string, fulfillmentId: string, items: Array<{ id: string; quantity: number }>): Promise<void> {
  const fields = ["id", "items.id", "items.detail.fulfilled_quantity"];
  const [order] = await read<{ items: Array<{ id: string; detail: { fulfilled_quantity: unknown } }> }>("order", fields, { id: orderId });
  const placed = await prints().listPrintOrders({ order_id: orderId, state: "placed" });
  const isCounted = (order?.items ?? []).every((item) => Number(item.detail.fulfilled_quantity) >= total(placed, item.id));
  if (isCounted) return;
  const reference = { reference: Modules.FULFILLMENT, reference_id: fulfillmentId };
  await container.resolve(Modules.ORDER).registerFulfillment({ order_id: orderId, ...reference, items });
}

/** Parcels that came back are a return in the shop. Its admin receives and refunds it. */
async function requestReturn(orderId: string, fulfillment: Fulfillment): Promise<void> {
  interface Found {
    items: Array<{ metadata: Record<string, unknown> | null }>;
  }
  const returns = await read<Found>("return", ["id", "items.metadata"], { order_id: orderId });
  if (returns.some((one) => one.items.some((item) => item.metadata?.["fulfillment_id"] === fulfillment.id))) return;
  const fields = ["id", "items.id", ...QUANTITIES.map((name) => `items.detail.${name}`)];
  const [order] = await read<{ items: Array<{ id: string; detail: Detail }> }>("order", fields, { id: orderId });
  const left = new Map((order?.items ?? []).map(({ id, detail }) => [id, notReturned(detail)]));
  const items = fulfillment.items
    .map((item) => ({ id: item.line_item_id, quantity: Math.min(Number(item.quantity), left.get(item.line_item_id) ?? 0) }))
    .filter((item) => item.quantity > 0)
    .map((item) => ({ ...item, note: "Came back to the print store", metadata: { fulfillment_id: fulfillment.id } }));
  if (items.length) await container.resolve(Modules.ORDER).createReturn({ order_id: orderId, requested_at: new Date(), items });
}

const QUANTITIES = ["shipped_quantity", "return_requested_quantity", "return_received_quantity", "return_dismissed_quantity"] as const;

type Detail = Record<(typeof QUANTITIES)[number], unknown>;

function notReturned(detail: Detail): number {
  const [shipped = 0, ...returned] = QUANTITIES.map((name) => Number(detail[name]));
  return returned.reduce((left, quantity) => left - quantity, shipped);
}

function labelsOf(order: models.Order): Array<{ tracking_number: string; tracking_url: string; label_url: string }> {
  return order.Shipments.map((one) => ({ tracking_number: one.TrackingNumber, tracking_url: one.TrackingURL ?? "", label_url: "" }));
}

/** What the row of an order says after a change. */
export async function changesOf(order: models.Order): Promise<OrderChanges> {
  const end: Partial<PrintOrderRow> = ENDED.includes(order.Status) ? { state: "ended", problem: await reasonOf(order) } : { problem: null };
  return { ...recordOf(order), ...end };
}

async function reasonOf(order: models.Order): Promise<string> {
  const history = await client().orders.history(order.StoreID, order.OrderID);
  const note = history.at(-1)?.Note;
  return `The print order is ${order.StatusName}${note ? `: ${note}` : "."}`;
}

/** Finds what no webhook reported: every order of ours that changed since the last time. */
export async function followChanges(): Promise<void> {
  const placed = await prints().listPrintOrders({ state: "placed" }, { select: ["store_id"] });
  for (const id of new Set(placed.map((row) => row.store_id))) {
    try {
      await followStore(id);
    } catch (error) {
      const problem = wordsOf(error);
      logger().warn(`The orders of ${id} could not be followed: ${problem}`);
      await prints().recordContact({ id, problem });
    }
  }
}

async function followStore(id: string): Promise<void> {
  for (const row of await prints().listPrintOrders({ store_id: id, state: "placed", status: null })) await follow(row.external_id);
  const [contact] = await prints().listPrintContacts({ id });
  let cursor = contact?.cursor ?? "";
  const changed = client().orders.export(id, { includeTest: true, ...(cursor ? { updatedAfter: cursor } : {}) });
  for await (const row of changed) {
    const [known] = row.ExternalID ? await prints().listPrintOrders({ external_id: row.ExternalID, state: "placed" }) : [];
    if (known && (known.status !== row.Status || parcelsOf(known) !== row.TrackingNumbers.length)) await follow(known.external_id);
    if (row.Updated > cursor) cursor = row.Updated;
  }
  await prints().recordContact({ id, cursor });
}

const parcelsOf = (row: PrintOrderRow): number => ((row.shipments ?? []) as unknown[]).length;
