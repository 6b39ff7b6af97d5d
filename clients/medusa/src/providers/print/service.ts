import type {
  CalculatedShippingOptionPrice,
  CalculateShippingOptionPriceDTO,
  CreateFulfillmentResult,
  FulfillmentDTO,
  FulfillmentItemDTO,
  FulfillmentOption,
  FulfillmentOrderDTO,
} from "@medusajs/framework/types";
import { AbstractFulfillmentProviderService } from "@medusajs/framework/utils";
import { Conflict, FulfillmentError } from "store-fulfillment";

import { refusal } from "../../modules/print/service";
import { prints, read } from "../../print/container";
import { wordsOf } from "../../print/errors";
import { changesOf, ENDED } from "../../print/follow";
import { itemsOf, type Line } from "../../print/lines";
import { place } from "../../print/place";
import { type Delivery, quoteFor, requireCurrency } from "../../print/prices";
import { client, shippingPrice } from "../../print/settings";

type Fulfillment = Partial<Omit<FulfillmentDTO, "provider_id" | "data" | "items">>;

export default class PrintProvider extends AbstractFulfillmentProviderService {
  static override identifier = "store-fulfillment";

  /** One for each store and each delivery method that its products have. */
  override async getFulfillmentOptions(): Promise<FulfillmentOption[]> {
    const options: FulfillmentOption[] = [];
    for (const store of await said(client().stores.list())) {
      const products = await client().products.list(store.StoreID);
      const prices = products.flatMap((product) => product.DeliveredPrices);
      for (const [method, text] of new Map(prices.map((one) => [one.DeliveryMethodCode, one.Description]))) {
        options.push({ id: `${store.StoreID}:${method}`, name: `${store.CompanyName}: ${text}`, store_id: store.StoreID, method });
      }
    }
    return options;
  }

  override async validateOption(data: Record<string, unknown>): Promise<boolean> {
    return deliveryOf(data) !== undefined;
  }

  override async validateFulfillmentData(optionData: Record<string, unknown>): Promise<Record<string, unknown>> {
    return { ...requiredDelivery(optionData) };
  }

  override async canCalculate(): Promise<boolean> {
    return true;
  }

  override async calculatePrice(
    optionData: CalculateShippingOptionPriceDTO["optionData"],
    _data: CalculateShippingOptionPriceDTO["data"],
    context: CalculateShippingOptionPriceDTO["context"],
  ): Promise<CalculatedShippingOptionPrice> {
    const delivery = requiredDelivery(optionData);
    const country = context.shipping_address?.country_code?.toUpperCase();
    if (!country) throw refusal("The price needs the country of the shipping address.");
    const items = await itemsOf(context.items, delivery.store_id);
    const [quote] = await said(quoteFor(delivery, items, country));
    requireCurrency(quote, String(context["currency_code"]));
    const amount = Number(shippingPrice() === "total" ? quote.total : quote.surcharge);
    return { calculated_amount: amount, is_calculated_price_tax_inclusive: false };
  }

  override async createFulfillment(
    data: Record<string, unknown>,
    items: Array<Partial<Omit<FulfillmentItemDTO, "fulfillment">>>,
    order: Partial<FulfillmentOrderDTO> | undefined,
    fulfillment: Fulfillment,
  ): Promise<CreateFulfillmentResult> {
    if (!order?.id || !fulfillment.id) throw refusal("Only what was ordered in this shop can be printed.");
    const ordered = (order.items ?? []) as unknown as Line[];
    const row = await place({
      order_id: order.id,
      display_id: String(order.display_id ?? order.id),
      currency: String(order.currency_code),
      fulfillment_id: fulfillment.id,
      delivery: requiredDelivery(data),
      address: (fulfillment.delivery_address ?? order.shipping_address ?? {}),
      lines: linesOf(items, ordered),
      ordered,
    });
    return { data: { ...data, order_id: order.id, fulfillment_id: fulfillment.id, print_order_id: row.print_order_id }, labels: [] };
  }

  /** Medusa calls it for a fulfilment that it cannot finish, too: then the order may belong to another one. */
  override async cancelFulfillment(data: Record<string, unknown>): Promise<Record<string, never>> {
    const [row] = await prints().listPrintOrders({ fulfillment_id: String(data["fulfillment_id"]) });
    if (!row?.print_order_id || (await isShared(data))) return {};
    const order = await this.cancelled(row.store_id, row.print_order_id);
    await prints().recordChanges(row.id, await changesOf(order));
    if (!ENDED.includes(order.Status)) throw refusal("The print store has started this order and was asked to cancel it. The fulfillment is cancelled here when the store agrees.");
    return {};
  }

  private async cancelled(storeId: string, orderId: string): ReturnType<ReturnType<typeof client>["orders"]["get"]> {
    try {
      return await client().orders.cancel(storeId, orderId, { Reason: "Cancelled in the shop" });
    } catch (error) {
      const order = await client().orders.get(storeId, orderId);
      if (error instanceof Conflict && ENDED.includes(order.Status)) return order;
      throw refusal(wordsOf(error));
    }
  }

  /** The store takes nothing back by itself; parcels that could not be delivered are reported as returned. */
  override async createReturnFulfillment(): Promise<never> {
    throw refusal("The print store offers no shipping of returns; choose a return shipping option of another provider, or none.");
  }

  override async getFulfillmentDocuments(data: Record<string, unknown>): Promise<never[]> {
    const delivery = deliveryOf(data);
    if (delivery === undefined || typeof data["print_order_id"] !== "string") return [];
    const slip = await client().orders.packingSlip(delivery.store_id, data["print_order_id"]);
    const content = Buffer.from(await slip.bytes()).toString("base64");
    // The declared type of this method has no member at all.
    return [{ type: "packing_slip", name: "packing-slip.pdf", mime_type: slip.mediaType, content }] as never[];
  }
}

/** Medusa shows the message of its own errors alone. */
function said<T>(work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => {
    throw error instanceof FulfillmentError ? refusal(wordsOf(error)) : error;
  });
}

function deliveryOf(data: Record<string, unknown>): Delivery | undefined {
  const { store_id, method } = data;
  return typeof store_id === "string" && typeof method === "string" ? { store_id, method } : undefined;
}

function requiredDelivery(data: Record<string, unknown>): Delivery {
  const delivery = deliveryOf(data);
  if (delivery === undefined) throw refusal("The shipping option names no store and no delivery method; create it anew from an option of this provider.");
  return delivery;
}

function linesOf(items: Array<Partial<Omit<FulfillmentItemDTO, "fulfillment">>>, lines: Line[]): Line[] {
  return items.map((item) => {
    const line = lines.find((one) => one.id === item.line_item_id);
    if (line === undefined) throw refusal(`The line ${item.line_item_id} is not in the order.`);
    // The quantity of a stocked variant counts pieces of its stock, not units of the line.
    if (item.inventory_item_id) throw refusal(`"${line.title}" is printed on demand; switch off "Manage inventory" of its variant.`);
    return { ...line, quantity: item.quantity };
  });
}

/** Whether another fulfilment of the shop's order stands for the same print order. */
async function isShared(data: Record<string, unknown>): Promise<boolean> {
  interface Found {
    fulfillments?: Array<{ id: string; canceled_at: unknown; data: Record<string, unknown> | null }>;
  }
  const fields = ["id", "fulfillments.id", "fulfillments.canceled_at", "fulfillments.data"];
  const [order] = await read<Found>("order", fields, { id: data["order_id"] });
  return (order?.fulfillments ?? []).some(
    (one) => one.id !== data["fulfillment_id"] && !one.canceled_at && one.data?.["print_order_id"] === data["print_order_id"],
  );
}
