import type { SubscriberArgs, SubscriberConfig } from "@medusajs/framework";

import { read } from "../print/container";
import { startPrinting } from "../print/start";

interface Payment {
  payment_collection?: { order?: { id: string } };
}

/** An order that is placed or edited, or a payment that is captured: what is due now is started. */
export default async function start({ event: { data } }: SubscriberArgs<{ id?: string; order_id?: string }>): Promise<void> {
  const id = data.order_id ?? data.id ?? "";
  const orderId = id.startsWith("pay_") ? await orderOf(id) : id;
  if (orderId) await startPrinting(orderId);
}

async function orderOf(paymentId: string): Promise<string | undefined> {
  const [payment] = await read<Payment>("payment", ["id", "payment_collection.order.id"], { id: paymentId });
  return payment?.payment_collection?.order?.id;
}

export const config: SubscriberConfig = { event: ["order.placed", "order-edit.confirmed", "payment.captured"] };
