/** From lines of a cart or an order to items of the print store. */
import { z } from "@medusajs/framework/zod";

import { refusal, type PrintProductRow } from "../modules/print/service";
import { prints } from "./container";

export interface Line {
  id: string;
  title?: string | null;
  variant_id?: string | null;
  quantity: unknown;
  /** What the buyer typed stands in `print`, by the FieldName of each template field; an uploaded PDF in `print_artwork`. */
  metadata?: Record<string, unknown> | null;
}

export const Artwork = z.object({ AssetID: z.string().min(1), FirstPage: z.number().int().positive().optional() });

export interface Item {
  ItemKey: string;
  ProductID: string;
  Quantity: number;
  TemplateData?: Record<string, unknown> | null;
  Artwork?: z.infer<typeof Artwork>;
}

/** A refusal that names each line without a product: none is left out. */
export async function itemsOf(lines: Line[], storeId: string): Promise<Item[]> {
  const variants = lines.map((line) => line.variant_id ?? "");
  const known = new Map((await prints().listPrintProducts({ variant_id: variants })).map((one) => [one.variant_id, one]));
  const faults: string[] = [];
  const items = lines.map((line) => {
    const product = known.get(line.variant_id ?? "");
    if (product === undefined) faults.push(`"${line.title}" has no print product; choose one on the page of the variant.`);
    else if (product.store_id !== storeId) faults.push(`"${line.title}" is printed by ${product.store_id}, the delivery is of ${storeId}.`);
    else return itemOf(line, product);
    return undefined;
  });
  if (faults.length) throw refusal(faults.join("\n"));
  // In the same order at each try: an Idempotency-Key is repeated with an equal body, and an equal cart finds its quote.
  return (items as Item[]).sort((a, b) => sortKey(a).localeCompare(sortKey(b)));
}

/** What the shop calls the items. */
export function titlesOf(items: Item[], lines: Line[]): string[] {
  return items.map(({ ItemKey, ProductID }) => lines.find((line) => line.id === ItemKey)?.title ?? ProductID);
}

function itemOf(line: Line, product: PrintProductRow): Item {
  const item = { ItemKey: line.id, ProductID: product.product_id, Quantity: Number(line.quantity) * product.pieces };
  const artwork = line.metadata?.["print_artwork"];
  if (artwork) return { ...item, Artwork: artworkOf(line, artwork) };
  const values = fieldsOf(product, line.metadata?.["print"]);
  return { ...item, TemplateData: Object.keys(values).length ? values : null };
}

function artworkOf(line: Line, value: unknown): z.infer<typeof Artwork> {
  const { data } = Artwork.safeParse(value);
  if (data === undefined) throw refusal(`"${line.title}": its metadata print_artwork must be {"AssetID": ...}, as the upload responded.`);
  return data;
}

/** The values of the buyer, and those of the mapping, which no buyer may change. */
export function fieldsOf(product: Pick<PrintProductRow, "fields">, typed: unknown): Record<string, unknown> {
  return { ...(typeof typed === "object" ? typed : {}), ...product.fields };
}

const sortKey = (item: Item): string => `${item.ProductID} ${item.Quantity} ${item.ItemKey}`;
