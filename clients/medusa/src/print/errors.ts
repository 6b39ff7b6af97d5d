import { MedusaError } from "@medusajs/framework/utils";
import { InvalidRequest } from "store-fulfillment";

/** What the service says about a buyer's values or file, in its words: they are what the buyer can correct. */
export async function refusing<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof InvalidRequest)) throw error;
    const faults = error.errors.map((one) => one.message);
    throw new MedusaError(MedusaError.Types.INVALID_DATA, faults.join("\n") || error.detail);
  }
}
