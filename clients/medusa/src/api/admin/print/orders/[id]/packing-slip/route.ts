import type { MedusaRequest, MedusaResponse } from "@medusajs/framework/http";
import { MedusaError } from "@medusajs/framework/utils";

import { prints } from "../../../../../../print/container";
import { client } from "../../../../../../print/settings";

/** The packing slip of a print order, by the ID of its row. */
export async function GET(request: MedusaRequest, response: MedusaResponse): Promise<void> {
  const [row] = await prints().listPrintOrders({ id: String(request.params["id"]) });
  if (!row?.print_order_id) throw new MedusaError(MedusaError.Types.NOT_FOUND, "There is no such print order.");
  const slip = await client().orders.packingSlip(row.store_id, row.print_order_id);
  response.setHeader("Content-Type", "application/pdf");
  response.end(Buffer.from(await slip.bytes()));
}
