import type { MedusaRequest, MedusaResponse } from "@medusajs/framework/http";
import { MedusaError } from "@medusajs/framework/utils";
import { NotFound } from "store-fulfillment";

import { prints } from "../../../../../print/container";
import { client } from "../../../../../print/settings";
import { startPrinting } from "../../../../../print/start";
import type { MappingBody } from "../../../../middlewares";

export async function GET(request: MedusaRequest, response: MedusaResponse): Promise<void> {
  const [product] = await prints().listPrintProducts({ variant_id: String(request.params["id"]) });
  response.json({ product: product ?? null });
}

/** Maps a variant, and starts the orders that were held for want of it. */
export async function POST(request: MedusaRequest<MappingBody>, response: MedusaResponse): Promise<void> {
  const values = { variant_id: String(request.params["id"]), ...request.validatedBody };
  await requireProduct(values);
  const [known] = await prints().listPrintProducts({ variant_id: values.variant_id });
  const product = known
    ? await prints().updatePrintProducts({ id: known.id, ...values })
    : await prints().createPrintProducts(values);
  response.json({ product });
  for (const row of await prints().listPrintOrders({ state: "held" })) {
    if (row.problem?.includes("has no print product")) await startPrinting(row.order_id, true);
  }
}

export async function DELETE(request: MedusaRequest, response: MedusaResponse): Promise<void> {
  await prints().deletePrintProducts({ variant_id: String(request.params["id"]) });
  response.status(204).end();
}

async function requireProduct(values: MappingBody): Promise<void> {
  try {
    const product = await client().products.get(values.store_id, values.product_id);
    const names = product.TemplateFields.map((field) => field.FieldName);
    const unknown = Object.keys(values.fields).filter((name) => !names.includes(name));
    if (unknown.length) throw invalid(`${unknown.join(", ")}: no such field; ${values.product_id} has ${names.join(", ") || "none"}.`);
  } catch (error) {
    if (error instanceof NotFound) throw invalid(`${values.store_id} has no product ${values.product_id}.`);
    throw error;
  }
}

const invalid = (message: string): MedusaError => new MedusaError(MedusaError.Types.INVALID_DATA, message);
