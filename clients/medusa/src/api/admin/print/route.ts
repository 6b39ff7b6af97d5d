import type { MedusaRequest, MedusaResponse } from "@medusajs/framework/http";

import { prints, read } from "../../../print/container";
import { wordsOf } from "../../../print/errors";
import { client, startsOn } from "../../../print/settings";

/** The settings page: a test of the connection, the last contacts, and what waits for a person. */
export async function GET(_: MedusaRequest, response: MedusaResponse): Promise<void> {
  const waiting = { state: ["open", "held"] };
  const [connection, contacts, orders] = await Promise.all([
    tested(),
    prints().listPrintContacts(),
    prints().listPrintOrders(waiting, { take: 200, order: { created_at: "ASC" } }),
  ]);
  const shopOrders = await read<{ id: string; display_id: unknown }>("order", ["id", "display_id"], { id: orders.map((row) => row.order_id) });
  const numbers = new Map(shopOrders.map((one) => [one.id, one.display_id]));
  const numbered = orders.map((row) => ({ ...row, display_id: numbers.get(row.order_id) }));
  response.json({ connection, starts_on: startsOn(), contacts, orders: numbered });
}

async function tested(): Promise<{ stores: string[]; problem: string | null }> {
  try {
    const stores = await client().stores.list({ verbose: true });
    return { stores: stores.map((store) => `${store.CompanyName} (${store.Currency ?? ""})`), problem: null };
  } catch (error) {
    return { stores: [], problem: wordsOf(error) };
  }
}
