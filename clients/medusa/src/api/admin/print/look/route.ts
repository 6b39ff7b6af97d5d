import type { MedusaRequest, MedusaResponse } from "@medusajs/framework/http";

import { look } from "../../../../print/look";

/** What the scheduled job does, now. */
export async function POST(_: MedusaRequest, response: MedusaResponse): Promise<void> {
  await look();
  response.status(204).end();
}
