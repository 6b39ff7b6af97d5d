import type { MedusaRequest, MedusaResponse } from "@medusajs/framework/http";

import { prints } from "../../../../../print/container";

/** The print orders of an order of the shop. */
export async function GET(request: MedusaRequest, response: MedusaResponse): Promise<void> {
  const orders = await prints().listPrintOrders({ order_id: String(request.params["id"]) }, { order: { created_at: "ASC" } });
  response.json({ orders });
}
