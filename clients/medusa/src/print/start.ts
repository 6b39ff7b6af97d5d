/** Begins the printing of shop orders, by a fulfilment of Medusa for each of their print deliveries. */
import { ContainerRegistrationKeys, Modules } from "@medusajs/framework/utils";
import { createOrderFulfillmentWorkflow } from "@medusajs/medusa/core-flows";

import type { PrintOrderRow } from "../modules/print/service";
import { container, logger, prints, read } from "./container";
import { startsOn } from "./settings";

const PROVIDER = "store-fulfillment_";
const LOOK_BACK_DAYS = 30;
const PAGE = 200;

interface Collection {
  status: string;
  amount: unknown;
  payments?: Array<{ captures?: Array<{ amount: unknown }> }>;
}

interface ShopOrder {
  id: string;
  status: string;
  total: unknown;
  items: Array<{
    id: string;
    quantity: unknown;
    detail: { fulfilled_quantity: unknown };
    variant?: { product?: { shipping_profile?: { id: string } } };
  }>;
  shipping_methods: Array<{ shipping_option_id: string }>;
  payment_collections: Collection[];
  fulfillments?: Array<{ id: string } | null>;
}

const FIELDS = [
  "id",
  "status",
  "total",
  "items.*",
  "items.detail.*",
  "items.variant.product.shipping_profile.id",
  "shipping_methods.shipping_option_id",
  "payment_collections.status",
  "payment_collections.amount",
  "payment_collections.payments.captures.amount",
  "fulfillments.id",
];

/** Starts what is due and not started. What cannot be ordered says so in its row; `again` when a person retries it. */
export async function startPrinting(orderId: string, again = false): Promise<void> {
  const [order] = await read<ShopOrder>("order", FIELDS, { id: orderId });
  if (order === undefined || order.status === "canceled" || !isDue(order)) return;
  const rows = await prints().listPrintOrders({ order_id: orderId });
  // A person decides about what is held, and cancelled it or not.
  if (!again && rows.some((row) => row.state === "held" || row.state === "ended")) return;
  for (const option of await printOptions({ id: order.shipping_methods.map((method) => method.shipping_option_id) })) {
    const items = order.items
      .filter((item) => item.variant?.product?.shipping_profile?.id === option.shipping_profile_id)
      .map((item) => ({ id: item.id, quantity: Number(item.quantity) - Number(item.detail.fulfilled_quantity) }))
      .filter((item) => item.quantity > 0);
    if (items.length) await fulfill(orderId, option.id, items);
    else await linkOrphans(order, rows);
  }
}

interface Option {
  id: string;
  provider_id: string;
  shipping_profile_id: string;
}

async function printOptions(filters: Record<string, unknown>): Promise<Option[]> {
  const options = await read<Option>("shipping_option", ["id", "provider_id", "shipping_profile_id"], filters);
  return options.filter((option) => option.provider_id.startsWith(PROVIDER));
}

/** Medusa counts what a fulfilment holds and links it to its order in two transactions: a kill may leave the second undone. */
async function linkOrphans(order: ShopOrder, rows: PrintOrderRow[]): Promise<void> {
  const linked = (order.fulfillments ?? []).map((one) => one?.id);
  for (const { fulfillment_id } of rows.filter((row) => row.state === "placed")) {
    if (fulfillment_id === null || linked.includes(fulfillment_id)) continue;
    const link = container.resolve(ContainerRegistrationKeys.LINK);
    await link.create({ [Modules.ORDER]: { order_id: order.id }, [Modules.FULFILLMENT]: { fulfillment_id } });
  }
}

async function fulfill(orderId: string, optionId: string, items: Array<{ id: string; quantity: number }>): Promise<void> {
  try {
    await createOrderFulfillmentWorkflow(container).run({ input: { order_id: orderId, shipping_option_id: optionId, items } });
  } catch (error) {
    // Medusa hands on the errors of steps as plain objects.
    logger().warn(`Order ${orderId} was not sent to print: ${(error as Error).message}`);
  }
}

function isDue(order: ShopOrder): boolean {
  if (startsOn() === "order" || Number(order.total) === 0) return true;
  const payments = order.payment_collections.filter((one) => one.status !== "canceled");
  return payments.length > 0 && payments.every(isPaid);
}

/** Medusa writes a capture before the status of its collection: a kill between them leaves the status behind for good. */
function isPaid({ status, amount, payments = [] }: Collection): boolean {
  const captures = payments.flatMap((payment) => payment.captures ?? []);
  return status === "completed" || captures.reduce((sum, capture) => sum + Number(capture.amount), 0) >= Number(amount);
}

/** Starts the orders whose event was lost with the process that should have handled it. */
export async function startMissed(): Promise<void> {
  const options = new Set((await printOptions({})).map((option) => option.id));
  const filters = { created_at: { $gte: new Date(Date.now() - LOOK_BACK_DAYS * 86_400_000) }, status: "pending" };
  for (let skip = 0; ; skip += PAGE) {
    const page = await read<ShopOrder>("order", FIELDS, filters, { take: PAGE, skip, order: { created_at: "ASC" } });
    const printed = page.filter((order) => order.shipping_methods.some((method) => options.has(method.shipping_option_id)));
    const rows = await prints().listPrintOrders({ order_id: printed.map((order) => order.id) });
    for (const order of printed) {
      if (!isStarted(order, rows.filter((row) => row.order_id === order.id))) await startPrinting(order.id);
    }
    if (page.length < PAGE) return;
  }
}

function isStarted(order: ShopOrder, rows: PrintOrderRow[]): boolean {
  const linked = (order.fulfillments ?? []).map((one) => one?.id);
  const isLeft = order.items.some((item) => Number(item.quantity) > Number(item.detail.fulfilled_quantity));
  const isOpen = rows.some((row) => row.state === "open" || (row.state === "placed" && !linked.includes(row.fulfillment_id ?? "")));
  return rows.length > 0 && !isOpen && !isLeft;
}
