import { model } from "@medusajs/framework/utils";

/** What is printed for a variant. `fields` are values that are the same for every buyer. */
export const PrintProduct = model.define("print_product", {
  id: model.id({ prefix: "pprod" }).primaryKey(),
  variant_id: model.text().unique(),
  store_id: model.text(),
  product_id: model.text(),
  /** How many pieces one unit of the variant is, such as 250 for a box of cards. */
  pieces: model.number(),
  fields: model.json(),
});

/**
 * What is ordered for a fulfilment. The row is written before the order is sent and its `external_id` goes with it, so
 * that a second try finds the order of the first.
 *
 * `state` is open (to be sent, or sent without an answer), held (a person decides), placed, or ended.
 */
export const PrintOrder = model.define("print_order", {
  id: model.id({ prefix: "pord" }).primaryKey(),
  order_id: model.text().index(),
  external_id: model.text().unique(),
  fulfillment_id: model.text().nullable(),
  claimed_at: model.dateTime().nullable(),
  /** The lines and their quantities, sorted. */
  lines: model.text(),
  state: model.enum(["open", "held", "placed", "ended"]).default("open"),
  problem: model.text().nullable(),
  store_id: model.text(),
  print_order_id: model.text().nullable(),
  print_order_number: model.text().nullable(),
  status: model.number().nullable(),
  status_name: model.text().nullable(),
  sequence: model.number().default(0),
  is_test: model.boolean().default(false),
  currency: model.text().nullable(),
  total: model.text().nullable(),
  shipments: model.json().nullable(),
  cancellation: model.text().nullable(),
});

/** A price that binds the store. `id` begins with a digest of what was priced. */
export const PrintQuote = model.define("print_quote", {
  id: model.text().primaryKey(),
  quote_id: model.text(),
  option_id: model.text(),
  currency: model.text(),
  total: model.text(),
  surcharge: model.text(),
  expires_at: model.dateTime(),
});

/** When there was contact: `id` is a store, whose `cursor` is the last change that was read, or "webhook". */
export const PrintContact = model.define("print_contact", {
  id: model.text().primaryKey(),
  at: model.dateTime(),
  cursor: model.text().nullable(),
  problem: model.text().nullable(),
});
