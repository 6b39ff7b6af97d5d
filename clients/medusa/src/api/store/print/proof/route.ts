import type { MedusaRequest, MedusaResponse } from "@medusajs/framework/http";
import { MedusaError } from "@medusajs/framework/utils";
import { InvalidRequest } from "store-fulfillment";

import { fieldsOf } from "../../../../print/lines";
import { productOf } from "../../../../print/products";
import { client } from "../../../../print/settings";
import type { ProofBody } from "../../../middlewares";

/** A picture of what the buyer typed, and what would print badly. */
export async function POST(request: MedusaRequest<ProofBody>, response: MedusaResponse): Promise<void> {
  const { variant_id, fields } = request.validatedBody;
  const product = await productOf(variant_id);
  try {
    const values = fieldsOf(product, fields) as Record<string, string | null>;
    const proof = await client().proofs.create(product.store_id, product.product_id, values);
    response.json({ pages: proof.PageURLs, pdf: proof.PdfURL, messages: proof._meta.Messages });
  } catch (error) {
    if (!(error instanceof InvalidRequest)) throw error;
    const faults = error.errors.map((one) => one.message);
    throw new MedusaError(MedusaError.Types.INVALID_DATA, faults.join("\n") || error.detail);
  }
}
