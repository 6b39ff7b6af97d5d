import type { MedusaRequest, MedusaResponse } from "@medusajs/framework/http";

import { fieldsOf } from "../../../../print/lines";
import { productOf } from "../../../../print/products";
import { proofOf } from "../../../../print/proofs";
import type { ProofBody } from "../../../middlewares";

/** A picture of what the buyer typed or uploaded, and what would print badly. */
export async function POST(request: MedusaRequest<ProofBody>, response: MedusaResponse): Promise<void> {
  const { variant_id, fields, artwork } = request.validatedBody;
  const product = await productOf(variant_id);
  const content = artwork ? { Artwork: artwork } : { TemplateData: fieldsOf(product, fields) };
  response.json(await proofOf(product.store_id, product.product_id, content));
}
