import { MedusaError } from "@medusajs/framework/utils";
import { ApiError, ConnectionFailed, InvalidRequest } from "store-fulfillment";

/** What went wrong in words for the shop's admin: the mistakes that the service lists, each with its item, or its sentence. */
export function wordsOf(error: unknown, titles: string[] = []): string {
  if (error instanceof ConnectionFailed) return "The print service did not respond. It is tried again every five minutes.";
  if (error instanceof ApiError) {
    const mistakes = error.errors.map(({ pointer, message }) => {
      const title = titles[Number(/^\/Items\/(\d+)/.exec(pointer)?.[1])];
      return title ? `${title}: ${message}` : message;
    });
    return [...new Set(mistakes)].join("\n") || error.detail || error.message;
  }
  return error instanceof Error ? error.message : String(error);
}

/** What the service says about a buyer's values or file: they are what the buyer can correct. */
export async function refusing<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof InvalidRequest ? new MedusaError(MedusaError.Types.INVALID_DATA, wordsOf(error)) : error;
  }
}
