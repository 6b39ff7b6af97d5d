import type { MedusaRequest, MedusaResponse } from "@medusajs/framework/http";

import { productOf } from "../../../../../print/products";
import { client } from "../../../../../print/settings";

/** The fields that a buyer fills in, without those of the mapping, and whether a PDF may take their place. */
export async function GET(request: MedusaRequest, response: MedusaResponse): Promise<void> {
  const product = await productOf(String(request.params["id"]));
  const { Name, TemplateFields, TakesArtwork } = await client().products.get(product.store_id, product.product_id, { verbose: true });
  const fields = TemplateFields.filter((field) => !(field.FieldName in product.fields));
  response.json({ name: Name, pieces: product.pieces, fields, takes_artwork: TakesArtwork });
}
