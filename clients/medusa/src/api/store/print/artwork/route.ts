import type { MedusaRequest, MedusaResponse } from "@medusajs/framework/http";
import { MedusaError } from "@medusajs/framework/utils";

import { refusing } from "../../../../print/errors";
import { productOf } from "../../../../print/products";
import { client } from "../../../../print/settings";

const PDF = "application/pdf";
/** The whole file is in memory while it is sent on. */
const MOST_BYTES = 32 * 1024 * 1024;

/** Takes the buyer's PDF for `?variant_id=`; the answer's `artwork` goes into a proof and into the cart's line. */
export async function POST(request: MedusaRequest, response: MedusaResponse): Promise<void> {
  const { variant_id } = request.query;
  const product = await productOf(typeof variant_id === "string" ? variant_id : "");
  if (request.headers["content-type"] !== PDF) {
    throw new MedusaError(MedusaError.Types.INVALID_DATA, "Send the PDF itself as the body, with Content-Type: application/pdf.");
  }
  const asset = await refusing(client().assets.create(product.store_id, limited(request), { contentType: PDF }));
  if (!asset.Pages?.length) throw new MedusaError(MedusaError.Types.INVALID_DATA, "The file is not a PDF.");
  response.status(201).json({ artwork: { AssetID: asset.AssetID }, pages: asset.Pages });
}

async function* limited(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const piece of body) {
    size += piece.length;
    if (size > MOST_BYTES) throw new MedusaError(MedusaError.Types.INVALID_DATA, "The PDF has more than 32 MB.");
    yield piece;
  }
}
