import type { MedusaRequest, MedusaResponse } from "@medusajs/framework/http";

import { client } from "../../../../print/settings";

/** What the stores offer that this application may use. */
export async function GET(_: MedusaRequest, response: MedusaResponse): Promise<void> {
  const stores = await client().stores.list();
  const products = await Promise.all(stores.map((store) => client().products.list(store.StoreID)));
  response.json({ stores: stores.map((store, place) => ({ id: store.StoreID, name: store.CompanyName, products: products[place] })) });
}
