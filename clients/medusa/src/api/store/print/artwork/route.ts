import type { MedusaRequest, MedusaResponse } from "@medusajs/framework/http";
import { MedusaError } from "@medusajs/framework/utils";

import { refusing } from "../../../../print/errors";
import { productOf } from "../../../../print/products";
import { client } from "../../../../print/settings";

const PDF = "application/pdf";
/** The whole file is in memory while it is sent on. */
const MAX_BYTES = 32 * 1024 * 1024;
/** The limit of all uploads in progress together: uploads need no sign-in. */
const MAX_HELD_BYTES = 8 * MAX_BYTES;
let held = 0;

class Full extends Error {}

/** Takes the buyer's PDF for `?variant_id=`; the answer's `artwork` goes into a proof and into the cart's line. */
export async function POST(request: MedusaRequest, response: MedusaResponse): Promise<void> {
  const { variant_id } = request.query;
  const product = await productOf(typeof variant_id === "string" ? variant_id : "");
  if (request.headers["content-type"] !== PDF) {
    throw new MedusaError(MedusaError.Types.INVALID_DATA, "Send the PDF itself as the body, with Content-Type: application/pdf.");
  }
  const mine = { bytes: 0 };
  try {
    const asset = await refusing(client().assets.create(product.store_id, limited(request, mine), { contentType: PDF }));
    if (!asset.Pages?.length) throw new MedusaError(MedusaError.Types.INVALID_DATA, "The file is not a PDF.");
    response.status(201).json({ artwork: { AssetID: asset.AssetID }, pages: asset.Pages });
  } catch (error) {
    if (!(error instanceof Full)) throw error;
    response.status(503).set("Retry-After", "5").json({ message: error.message });
  } finally {
    held -= mine.bytes;
  }
}

async function* limited(body: AsyncIterable<Uint8Array>, mine: { bytes: number }): AsyncGenerator<Uint8Array> {
  for await (const piece of body) {
    mine.bytes += piece.length;
    held += piece.length;
    if (mine.bytes > MAX_BYTES) throw new MedusaError(MedusaError.Types.INVALID_DATA, "The PDF has more than 32 MB.");
    if (held > MAX_HELD_BYTES) {
      // At once, so that the others find room.
      held -= mine.bytes;
      mine.bytes = 0;
      throw new Full("Too many files are being sent right now. Try again in a few seconds.");
    }
    yield piece;
  }
}
