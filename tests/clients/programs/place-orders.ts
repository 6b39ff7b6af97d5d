// Places as many orders as the second argument says, eight at a time; prints their OrderIDs.
import { readFileSync } from "node:fs";

import { Client, type models } from "store-fulfillment";

const given = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8")) as {
  url: string;
  application: { external_id: string; key: string; subscription_key: string };
};
const order: models.OrderRequest = {
  Recipient: {
    Name: "Dana Whitfield",
    Address1: "1200 17th Street",
    City: "Denver",
    State: "CO",
    PostalCode: "80202",
    CountryCode: "US",
  },
  Items: [
    {
      ProductID: "business-card-standard",
      Quantity: 500,
      TemplateData: { Name: "Ada Lovelace", Email: "ada@example.com" },
    },
  ],
};
const { external_id: clientId, key: clientSecret, subscription_key: subscriptionKey } = given.application;
const client = new Client({
  baseUrl: given.url,
  credentials: { clientId, clientSecret },
  subscriptionKey,
  retries: { most: 15, firstWait: 0.05 },
});
const placed: string[] = [];
let left = Number(process.argv[3]);
const work = async (): Promise<void> => {
  while (left-- > 0) placed.push((await client.orders.create("demo", order)).OrderID);
};
await Promise.all(Array.from({ length: 8 }, work));
console.log(placed.join("\n"));
