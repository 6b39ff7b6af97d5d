import { MedusaError } from "@medusajs/framework/utils";

import type { PrintProductRow } from "../modules/print/service";
import { prints } from "./container";

export async function productOf(variantId: string): Promise<PrintProductRow> {
  const [product] = await prints().listPrintProducts({ variant_id: variantId });
  if (product === undefined) throw new MedusaError(MedusaError.Types.NOT_FOUND, `The variant ${variantId} has no print product.`);
  return product;
}
