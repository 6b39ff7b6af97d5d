import type { MedusaRequest, MedusaResponse } from "@medusajs/framework/http";

import { prints, read } from "../../../../../../print/container";
import { wordsOf } from "../../../../../../print/errors";
import { itemsOf, type Line, titlesOf } from "../../../../../../print/lines";
import { type Content, type Pictures, proofOf } from "../../../../../../print/proofs";
import { client } from "../../../../../../print/settings";
import type { PrintOrderRow } from "../../../../../../modules/print/service";

type Item = Content & { ProductID: string; ProductName?: string };

/** The pages of each item of a print order, by the ID of its row: as it is at the store, or as it would be sent. */
export async function GET(request: MedusaRequest, response: MedusaResponse): Promise<void> {
  const row = await prints().retrievePrintOrder(String(request.params["id"]));
  const items: Item[] = row.print_order_id ? (await client().orders.get(row.store_id, row.print_order_id)).Items : await unsent(row);
  response.json({ proofs: await Promise.all(items.map((item) => pictureOf(row, item))) });
}

async function pictureOf(row: PrintOrderRow, item: Item): Promise<Partial<Pictures> & { title: string; problem: string | null }> {
  const title = item.ProductName ?? item.ProductID;
  try {
    return { title, problem: null, ...(await proofOf(row.store_id, item.ProductID, item)) };
  } catch (error) {
    return { title, pages: [], problem: wordsOf(error) };
  }
}

async function unsent(row: PrintOrderRow): Promise<Item[]> {
  const [order] = await read<{ items: Line[] }>("order", ["id", "items.*"], { id: row.order_id });
  const kept = JSON.parse(row.lines) as Array<[string, number]>;
  const lines = (order?.items ?? []).filter((line) => kept.some(([id]) => id === line.id));
  const items = await itemsOf(lines, row.store_id);
  const titles = titlesOf(items, lines);
  return items.map((item, place) => ({ ...item, ProductName: titles[place] ?? item.ProductID }));
}
