import type { MedusaRequest, MedusaResponse } from "@medusajs/framework/http";

import { prints } from "../../../../../../print/container";
import { startPrinting } from "../../../../../../print/start";

/** Tries again what was held, and orders anew what the store ended. */
export async function POST(request: MedusaRequest, response: MedusaResponse): Promise<void> {
  const order_id = String(request.params["id"]);
  await startPrinting(order_id, true);
  response.json({ orders: await prints().listPrintOrders({ order_id }, { order: { created_at: "ASC" } }) });
}
