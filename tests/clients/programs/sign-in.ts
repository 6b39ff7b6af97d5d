// Signs a person in: prints the address to open, reads the one the browser was sent back to. Then a token that has
// ended is renewed once for many calls, and a webhook request is verified.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline/promises";

import { Client, ConnectionFailed, finishSignIn, startSignIn, type Tokens } from "store-fulfillment";
import { verifyWebhook, WebhookVerificationError } from "store-fulfillment/webhooks";

const given = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8")) as {
  url: string;
  untrusted: string;
  application: { external_id: string; key: string; subscription_key: string };
  webhook: { secret: string; body: string; headers: Record<string, string> };
};
const { external_id: clientId, key: clientSecret, subscription_key: subscriptionKey } = given.application;
const redirectUri = "http://127.0.0.1:9099/callback";

for (const baseUrl of ["http://print.example", "http://localhost@print.example"]) {
  assert.throws(() => new Client({ baseUrl, subscriptionKey, credentials: { clientId, clientSecret } }), /in clear/);
  await assert.rejects(startSignIn({ baseUrl, clientId, redirectUri }), /in clear/);
}
const away = "http://127.0.0.1:65535";
await assert.rejects(startSignIn({ baseUrl: away, clientId, redirectUri }), ConnectionFailed);
const signIn = await startSignIn({ baseUrl: given.url, clientId, redirectUri, scopes: ["Store.Self.Read"] });
console.log(signIn.url);
const input = createInterface(process.stdin);
const address = await input.question("");
input.close();
const other = new URL(address);
other.searchParams.set("iss", "https://elsewhere.example");
await assert.rejects(finishSignIn(signIn, other.href, clientSecret), /invalid_state/);
await assert.rejects(finishSignIn({ ...signIn, baseUrl: away }, address, clientSecret), ConnectionFailed);
const tokens = await finishSignIn(signIn, address, clientSecret);
const kept: Tokens[] = [];
const client = new Client({
  baseUrl: given.url,
  subscriptionKey,
  credentials: {
    clientId,
    clientSecret,
    tokens: { ...tokens, expiresAt: 0 },
    onTokens: (renewed) => {
      kept.push(renewed);
    },
  },
});
const found = await Promise.all([1, 2, 3].map(() => client.stores.list()));
assert(found.every((stores) => stores.some((store) => store.StoreID === "demo")));
assert.equal(kept.length, 1);
assert.notEqual(kept[0]?.refreshToken, tokens.refreshToken);

// Another try would end the same.
for (const url of [given.untrusted, "ftp://127.0.0.1/card.pdf"]) {
  await assert.rejects(client.download(url), /tries: 1\)/);
}

const { secret, body, headers } = given.webhook;
const event = verifyWebhook(secret, body, headers);
assert(event.Type === "order.shipped" && event.Data.StatusName === "Shipped");
assert.throws(() => verifyWebhook(secret, `${body} `, headers), WebhookVerificationError);
console.log("done");
