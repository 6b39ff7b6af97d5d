// Parts of the Medusa plug-in without a shop: node medusa-parts.cjs TYPESCRIPT SOURCES
const { readFileSync } = require("node:fs");

const [typescript, sources] = process.argv.slice(2);
const ts = require(typescript);
const MB = 1 << 20;

class MedusaError extends Error {
  static Types = { INVALID_DATA: "invalid_data" };

  constructor(_, message) {
    super(message);
  }
}

// What the plug-in imports: anything that is not named here may be called, and gives itself.
const anything = new Proxy(() => undefined, { get: () => anything, apply: () => anything });

function load(path, imports) {
  const compilerOptions = { module: "commonjs", target: "es2022" };
  const { outputText } = ts.transpileModule(readFileSync(`${sources}/${path}`, "utf8"), { compilerOptions });
  const exported = {};
  new Function("require", "exports", outputText)((name) => imports[name.replace(/.*\//, "")] ?? { z: anything }, exported);
  return exported;
}

let open;
const opened = new Promise((resolve) => (open = resolve));

async function create(_, file) {
  for await (const piece of file) void piece;
  await opened;
  return { AssetID: "a", Pages: [{}] };
}

const { POST } = load("api/store/print/artwork/route.ts", {
  utils: { MedusaError },
  errors: { refusing: (work) => work },
  products: { productOf: async () => ({ store_id: "s" }) },
  settings: { client: () => ({ assets: { create } }) },
});

async function upload(megabytes) {
  let status;
  const response = { status: (sent) => ((status = sent), response), set: () => response, json: () => response };
  async function* body() {
    for (let sent = 0; sent < megabytes; sent++) yield { length: MB };
  }
  const request = { query: {}, headers: { "content-type": "application/pdf" }, [Symbol.asyncIterator]: body };
  await POST(request, response).catch((error) => (status = error.message));
  return status;
}

const uploads = (count) => Promise.all(Array.from({ length: count }, () => upload(31)));

// A store whose price of the same items rises from 10 to 12 after two days, when the first quote has ended.
const DAY = 86_400_000;
const start = Date.now();
let now = start;
let shippingPrice = "total";
const quotes = [];
const row = { id: "o", order_id: "order", external_id: "order-1", store_id: "s", state: "open" };
const orders = [];
class TooLong extends Error {
  errors = [{ code: "too_many_options" }];
}

const prices = load("print/prices.ts", {
  "node:crypto": require("node:crypto"),
  "store-fulfillment": { InvalidRequest: TooLong },
  service: { refusal: (text) => new MedusaError("", text) },
  container: {
    prints: () => ({
      listPrintQuotes: async ({ id, expires_at }) =>
        quotes.filter((one) => (id ? one.id.startsWith(id.$like.slice(0, -1)) : one.expires_at < expires_at.$lt)).reverse(),
      deletePrintQuotes: async (ids) => void quotes.splice(0, quotes.length, ...quotes.filter((one) => !ids.includes(one.id))),
      createPrintQuotes: async (quote) => (quotes.push({ ...quote, created_at: new Date(now) }), quotes.at(-1)),
    }),
  },
  settings: {
    shippingPrice: () => shippingPrice,
    client: () => ({
      quotes: {
        create: async (store, { DeliveryMethodCode }) => {
          if (store === "long" && !DeliveryMethodCode) throw new TooLong();
          return {
            QuoteID: `q${quotes.length}`,
            Currency: "USD",
            ExpiresAt: new Date(now + 2 * DAY).toISOString(),
            Options: [{ OptionID: "GROUND-3", DeliveryMethodCode: "GROUND", Total: now < start + 2 * DAY ? 10 : 12 }],
          };
        },
      },
    }),
  },
});
class NotFound extends Error {}
const { place } = load("print/place.ts", {
  "node:crypto": require("node:crypto"),
  "store-fulfillment": { ApiError: Error, Conflict: MedusaError, InvalidRequest: MedusaError, NotFound },
  service: { refusal: (text) => new MedusaError("", text) },
  container: {
    prints: () => ({ claim: async () => ({ ...row }), updatePrintOrders: async (values) => Object.assign(row, values) }),
    read: async () => [{ id: "order", created_at: new Date(start).toISOString(), fulfillments: [] }],
  },
  errors: { wordsOf: (error) => error.message },
  lines: { itemsOf: async () => ITEMS, titlesOf: () => [] },
  prices,
  settings: {
    client: () => ({
      orders: {
        get: async () => {
          throw new NotFound();
        },
        create: async (_, body) => (orders.push(body.QuoteID), { Shipments: [], Total: 12 }),
      },
    }),
  },
});
const ITEMS = [{ ItemKey: "line", ProductID: "card", Quantity: 100 }];
const delivery = { store_id: "s", method: "GROUND" };

/** An order of the first day that is paid on the third, after another buyer was shown the new price; then a retry. */
async function paidLate() {
  const usual = Date.now;
  Date.now = () => now;
  await prices.quoteFor(delivery, ITEMS, "US");
  now = start + 3 * DAY;
  await prices.quoteFor(delivery, ITEMS, "US");
  const wanted = { order_id: "order", currency: "usd", delivery, address: { country_code: "us" }, lines: [], ordered: [] };
  await place(wanted).catch(() => undefined);
  const held = { state: row.state, problem: row.problem, orders: [...orders] };
  await place(wanted).catch(() => undefined);
  Date.now = usual;
  return { held, retried: { state: row.state, orders } };
}

/** Of a store whose product has more options than a quote: the price, and whether a surcharge is known. */
async function quotedLong() {
  const long = { ...delivery, store_id: "long" };
  const [{ total }] = await prices.quoteFor(long, ITEMS, "US");
  shippingPrice = "surcharge";
  const refused = await prices.quoteFor(long, ITEMS, "CA").catch((error) => error instanceof TooLong);
  shippingPrice = "total";
  return [total, refused];
}

/** How many quotes are left once all but one have ended 61 days ago. */
async function keptQuotes() {
  const usual = Date.now;
  now = start + 70 * DAY;
  Date.now = () => now;
  await prices.quoteFor(delivery, ITEMS, "MX");
  Date.now = usual;
  return quotes.length;
}

async function main() {
  const { fieldsOf } = load("print/lines.ts", {});
  const product = { fields: { Email: "office@example.com" } };
  setTimeout(open, 200);
  const crowd = await uploads(12);
  console.log(
    JSON.stringify({
      fields: fieldsOf(product, { Name: "Ada", Email: "ada@example.com" }),
      untyped: fieldsOf(product, undefined),
      crowd: crowd.sort(),
      large: await upload(33),
      after: await uploads(8),
      late: await paidLate(),
      long: await quotedLong(),
      kept: await keptQuotes(),
    }),
  );
}

main();
