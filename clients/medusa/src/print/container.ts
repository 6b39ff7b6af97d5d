/**
 * A fulfilment provider gets only what its own module has. What it needs beside, the mapping and the lines of an order,
 * it finds in the container of the shop.
 */
import { container } from "@medusajs/framework";
import type { Logger, RemoteQueryFunction } from "@medusajs/framework/types";
import { ContainerRegistrationKeys } from "@medusajs/framework/utils";

import { PRINT } from "../modules/print";
import type PrintService from "../modules/print/service";

export const prints = (): PrintService => container.resolve<PrintService>(PRINT);
export const logger = (): Logger => container.resolve<Logger>(ContainerRegistrationKeys.LOGGER);

/** `T` names the fields that are read. */
export async function read<T>(entity: string, fields: string[], filters: Record<string, unknown>, pagination?: object): Promise<T[]> {
  const query = container.resolve<Omit<RemoteQueryFunction, symbol>>(ContainerRegistrationKeys.QUERY);
  const { data } = await query.graph({ entity, fields, filters, ...(pagination ? { pagination } : {}) });
  return data as T[];
}

export { container };
