// Calls every operation with the installed library; the first argument is a file with the demo's record and the address.
// Prints what was requested, one `METHOD path` a line.
import assert from "node:assert/strict";
import { createReadStream, openAsBlob, readFileSync } from "node:fs";

import { Client, Conflict, etagOf, type models, NotFound } from "store-fulfillment";

interface Role {
  external_id?: string;
  key?: string;
  access_token: string;
  subscription_key: string;
}
interface Given {
  url: string;
  picture: string;
  icon: string;
  artwork: string;
  username: string;
  store_ids: [string, string];
  postal_codes: string[];
  application: Role;
  user: Role;
  operator: Role;
}

const given = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8")) as Given;
const requested: string[] = [];
const card = "business-card-standard";
const values = { Name: "Ada Lovelace", Email: "ada@example.com" };
const order: models.OrderRequest = {
  Recipient: {
    Name: "Dana Whitfield",
    Address1: "1200 17th Street",
    City: "Denver",
    State: "CO",
    PostalCode: "80202",
    CountryCode: "US",
  },
  Items: [{ ItemKey: "cards", ProductID: card, Quantity: 500, TemplateData: values }],
};

function clientOf(role: "application" | "user" | "operator"): Client {
  const who = given[role];
  const { external_id: clientId, key: clientSecret, access_token: accessToken } = who;
  return new Client({
    baseUrl: given.url,
    subscriptionKey: who.subscription_key,
    credentials: clientId && clientSecret ? { clientId, clientSecret } : { accessToken },
    fetch: (request, init) => {
      if (request instanceof Request) requested.push(`${request.method} ${new URL(request.url).pathname}`);
      return fetch(request, init);
    },
  });
}

async function readTheCatalog(shop: Client): Promise<void> {
  assert((await shop.stores.list({ verbose: true })).some((store) => store.StoreID === "demo"));
  assert((await shop.stores.get("demo")).CompanyName);
  assert((await shop.products.list("demo")).some((product) => product.ID === card));
  assert((await shop.products.get("demo", card, { verbose: true })).TemplateFields[0]?.FieldName);
  const proof = await shop.proofs.create("demo", card, values);
  assert.deepEqual(proof.Preflight.map((finding) => finding.Code), []);
  const pdf = await shop.download(proof.PdfURL);
  assert.equal(pdf.mediaType, "application/pdf");
  assert.match(await pdf.text(), /^%PDF/);
  assert.equal((await shop.assets.create("demo", await openAsBlob(given.picture))).Width, 900);
  assert.equal((await shop.assets.create("demo", createReadStream(given.picture))).Width, 900);
  assert.equal((await shop.assets.create("demo", (await openAsBlob(given.picture)).stream())).Width, 900);
  const artwork = await shop.assets.create("demo", await openAsBlob(given.artwork));
  const checked = await shop.artworks.create("demo", card, { AssetID: artwork.AssetID, FirstPage: 2 });
  assert.deepEqual(checked.Preflight, []);
  const populations = await shop.eddm.list({ postalCodes: given.postal_codes });
  assert.deepEqual(populations.map((one) => one.PostalCode), given.postal_codes);
  const selection = await shop.eddm.select({ PostalCodes: given.postal_codes, ResidentialOnly: true });
  assert.equal((await shop.eddm.getSelection(selection.SelectionID)).Pieces, selection.Pieces);
}

async function placeAnOrder(shop: Client, operator: Client): Promise<void> {
  const quote = await shop.quotes.create("demo", {
    Items: [{ ProductID: card, Quantity: 500 }],
    ShipTo: { CountryCode: "US" },
  });
  assert.deepEqual((await shop.quotes.get("demo", quote.QuoteID)).Options, quote.Options);
  const placed = await shop.orders.create("demo", order);
  assert.equal((await shop.orders.get("demo", placed.OrderID)).OrderNumber, placed.OrderNumber);
  const moved = await shop.orders.advance("demo", placed.OrderID, { ifMatch: etagOf(placed) });
  assert.equal(moved.StatusName, "Accepted");
  await shop.orders.advance("demo", placed.OrderID);
  const cancelled = await shop.orders.cancel("demo", placed.OrderID, { Reason: "A typing error" });
  assert.equal(cancelled.Cancellation?.State, "Requested");
  await operator.orders.refuseCancellation("demo", placed.OrderID, { Note: "It is printed already" });
  const shipped = await operator.orders.setStatus("demo", placed.OrderID, {
    Status: 60,
    Shipments: [{ Carrier: "UPS", TrackingNumber: "1Z999AA10123456784" }],
  });
  assert.equal(shipped.StatusName, "Shipped");
  assert.equal((await shop.orders.history("demo", placed.OrderID)).at(-1)?.Status, 60);
  assert.match(await (await shop.orders.printFile("demo", placed.OrderID, "cards")).text(), /^%PDF/);
  assert.match(await (await operator.orders.packingSlip("demo", placed.OrderID)).text(), /^%PDF/);
  await assert.rejects(operator.orders.eddmPapers("demo", placed.OrderID, "cards"), NotFound);
  await shop.orders.create("demo", order);
  await shop.orders.create("demo", order);
  const listed: string[] = [];
  for await (const row of shop.orders.export("demo", { take: 2 })) listed.push(row.OrderID);
  assert(listed.length >= 3 && new Set(listed).size === listed.length && listed.includes(placed.OrderID));
  assert((await (await shop.orders.exportCsv("demo", { status: [60] })).text()).includes(placed.OrderNumber));
}

async function keepABudget(shop: Client, operator: Client): Promise<void> {
  const [store] = given.store_ids;
  const { BudgetID: id } = await operator.budgets.create(store, {
    Name: "Spring fair",
    Scope: { Kind: "Store" },
    Type: "Orders",
    Limit: 5,
    Duration: "Monthly",
    OverBudget: "Approve",
  });
  assert((await shop.budgets.list(store)).some((one) => one.BudgetID === id));
  assert.equal((await operator.budgets.update(store, id, { Limit: 0 })).Limit, 0);
  const wanted = await shop.orders.create(store, order);
  const unwanted = await shop.orders.create(store, order);
  const note = { Note: "For the spring fair" };
  const approved = await operator.orders.approve(store, wanted.OrderID, note, { ifMatch: etagOf(wanted) });
  assert.equal(approved.Approval?.State, "Approved");
  const denied = await operator.orders.deny(store, unwanted.OrderID, { Reason: "One is enough" });
  assert.equal(denied.Approval?.State, "Denied");
  assert.equal((await operator.budgets.adjust(store, id, { Amount: 2, Note: "Trade fair" })).Amount, 2);
  const { Limit, Used, Remaining } = (await operator.budgets.get(store, id)).Period;
  assert.deepEqual([Limit, Used, Remaining], [2, 1, 1]);
  const kinds = (await operator.budgets.listEntries(store, id, { take: 2 }).all()).map((entry) => entry.Kind);
  assert(kinds.at(-1) === "Adjustment" && kinds.length === 4);
  assert.equal((await (await operator.budgets.listEntriesCsv(store, id)).text()).trim().split("\n").length, 5);
  const unused = await operator.budgets.create(store, {
    Name: "Unused",
    Scope: { Kind: "Store" },
    Type: "Amount",
    Limit: 9.5,
    Duration: "Weekly",
  });
  await operator.budgets.delete(store, unused.BudgetID);
  assert(!(await operator.budgets.list(store)).some((one) => one.BudgetID === unused.BudgetID));
}

/** Without a worker, which would check it. */
async function makeABatch(shop: Client, operator: Client): Promise<void> {
  const request: models.BatchRequest = { ProductID: card, Mode: "Items", Recipient: order.Recipient };
  const { BatchID: id } = await shop.batches.create("demo", request);
  assert.equal((await shop.batches.update("demo", id, { Quantity: 500 })).Quantity, 500);
  const rows = new Blob(["Name,Email\nAda Lovelace,ada@example.com\n"], { type: "text/csv" });
  const sent = await shop.batches.replaceRows("demo", id, rows, { check: false });
  assert.deepEqual(sent.Mapping, { Name: "Name", Email: "Email" });
  const [row] = await shop.batches.listRows("demo", id, { state: ["Pending"] }).all();
  assert(row);
  const changed = await shop.batches.changeRow("demo", id, row.RowKey, { Name: "Ada King" });
  assert.deepEqual([changed.RowKey, changed.Values["Name"]], [row.RowKey, "Ada King"]);
  assert.match(await (await shop.batches.listRowsCsv("demo", id)).text(), /Ada King/);
  assert.match(await (await shop.batches.contactSheet("demo", id)).text(), /^%PDF/);
  assert.match(await (await shop.batches.template("demo", id)).text(), /^PK/);
  assert.equal((await shop.batches.check("demo", id)).Status, "Checking");
  await assert.rejects(shop.batches.order("demo", id), Conflict);
  await assert.rejects(operator.batches.approve("demo", id), Conflict);
  await assert.rejects(operator.batches.deny("demo", id, { Reason: "None" }), Conflict);
  assert.equal((await shop.batches.cancel("demo", id)).Status, "Cancelled");
  assert.equal((await shop.batches.get("demo", id)).Counts.Cancelled, 1);
}

async function manageAnApplication(person: Client, operator: Client): Promise<string> {
  const { ID: id } = await person.applications.create({ Name: "Made by a test", Keys: [{}] });
  assert((await person.applications.list()).some((one) => one.ID === id));
  assert.equal((await person.applications.update(id, { Description: "Changed" })).Description, "Changed");
  const key = (await person.applications.get(id)).Keys[0];
  assert(key);
  assert.notEqual((await person.applications.regenerateKey(id, key.ID)).ID, key.ID);
  await person.applications.setIcon(id, new Uint8Array(readFileSync(given.icon)));
  assert.equal((await (await person.applications.getIcon(id)).bytes())[1], "P".charCodeAt(0));
  const [nearby, other] = given.store_ids;
  const first = await person.associations.request({ StoreID: nearby, ApplicationID: id });
  assert.equal((await person.associations.get(first.ID)).State, "Pending");
  assert.equal((await operator.associations.approve(first.ID)).State, "Approved");
  const second = await person.associations.request({ StoreID: other, ApplicationID: id });
  assert.equal((await operator.associations.deny(second.ID, { Note: "Not now" })).State, "Denied");
  const third = await person.associations.request({ StoreID: other, ApplicationID: id });
  assert.equal((await person.associations.withdraw(third.ID)).State, "Withdrawn");
  assert((await person.associations.list({ state: "Withdrawn" })).some((one) => one.ID === third.ID));
  return id;
}

// With the test's event, the last one: transactions that are open anywhere on the server hold events back.
async function eventTypes(person: Client, id: string): Promise<string[]> {
  const deadline = Date.now() + 240_000;
  for (;;) {
    const types: string[] = (await person.events.list(id, { take: 1 }).all()).map((event) => event.Type);
    if (types.includes("webhook.test") || Date.now() > deadline) return types;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

async function useWebhooks(person: Client, id: string): Promise<void> {
  const made = await person.webhooks.create(id, { URL: "https://example.com/hook", EventTypes: ["*"] });
  assert(made.Secret.startsWith("whsec_"));
  assert.deepEqual((await person.webhooks.list(id)).map((one) => one.ID), [made.ID]);
  assert.equal((await person.webhooks.get(id, made.ID)).URL, "https://example.com/hook");
  assert.deepEqual((await person.webhooks.update(id, made.ID, { EventTypes: ["order.*"] })).EventTypes, ["order.*"]);
  assert.notEqual((await person.webhooks.rotateSecret(id, made.ID)).Secret, made.Secret);
  await person.webhooks.test(id, made.ID);
  const delivery = (await person.webhooks.listDeliveries(id, made.ID).first()).items[0];
  assert(delivery);
  assert.equal((await person.webhooks.resendDelivery(id, made.ID, delivery.ID)).ID, delivery.ID);
  await person.webhooks.enable(id, made.ID);
  assert((await person.webhooks.recover(id, made.ID, { Since: delivery.Created })).Deliveries >= 0);
  await person.webhooks.delete(id, made.ID);
  const types = await eventTypes(person, id);
  assert(types.includes("association.approved") && types.includes("webhook.test"));
  for await (const call of person.requests.list(id, { status: "404" })) assert.equal(call.Status, 404);
}

async function lookAtPeople(person: Client, operator: Client): Promise<void> {
  const me = await person.users.me();
  assert((await operator.users.roles(me.ID)).length > 0);
  assert(await person.stores.userRoles(given.store_ids[0], me.ID));
  const made = await person.users.create({
    Username: given.username,
    Password: "a long pass phrase",
    FirstName: "Made",
    LastName: "Person",
    Email: `${given.username}@example.com`,
  });
  assert.equal(made.Username, given.username);
  assert.deepEqual(await person.users.findEmails([me.Email]), [me.Email]);
}

const [shop, person, operator] = [clientOf("application"), clientOf("user"), clientOf("operator")];
await readTheCatalog(shop);
await placeAnOrder(shop, operator);
await keepABudget(shop, operator);
await makeABatch(shop, operator);
await useWebhooks(person, await manageAnApplication(person, operator));
await lookAtPeople(person, operator);
await assert.rejects(shop.orders.get("demo", "no-such-order"), (error) => error instanceof NotFound && error.status === 404);
console.log(requested.join("\n"));
