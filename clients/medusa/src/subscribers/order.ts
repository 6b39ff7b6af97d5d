import type { SubscriberArgs, SubscriberConfig } from "@medusajs/framework";

import { read } from "../print/container";
import { startPrinting } from "../print/start";

interface Payment {
  payment_collection?: { order?: { id: string } };
}

/** An order that is placed, or a payment that is captured: what is due now is started. */
export default async function start({ event: { name, data } }: SubscriberArgs<{ id: string }>): Promise<void> {
  if (name === "order.placed") return startPrinting(data.id);
  const [payment] = await read<Payment>("payment", ["id", "payment_collection.order.id"], { id: data.id });
  const orderId = payment?.payment_collection?.order?.id;
  if (orderId) await startPrinting(orderId);
}

export const config: SubscriberConfig = { event: ["order.placed", "payment.captured"] };
