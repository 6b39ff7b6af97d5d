// A service that responds with what no service should: each call ends soon, and with an error of the library.
import assert from "node:assert/strict";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

import { ApiError, Client, ConnectionFailed, type Credentials, FulfillmentError, OAuthError, startSignIn } from "store-fulfillment";

type Respond = (response: ServerResponse) => void;
let respond: Respond;
const server = createServer((_, response) => respond(response));
await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

const body = (text: string, status = 200, headers: Record<string, string> = {}): Respond => (response) => {
  response.writeHead(status, { "Content-Type": "application/json", ...headers }).end(text);
};
/** A head, the start of a body, and then nothing. */
const stalled = (status: number): Respond => (response) => {
  response.writeHead(status, { "Content-Type": "application/json" }).write("{");
};

function clientOf(credentials: Credentials): Client {
  return new Client({ baseUrl, subscriptionKey: "key", credentials, timeout: 1, retries: { most: 0 } });
}
const known = clientOf({ accessToken: "token" });
const withoutToken = clientOf({ clientId: "a", clientSecret: "b" });

async function assertRefused(call: () => Promise<unknown>, given: Respond, Kind: abstract new (...given: never[]) => FulfillmentError, name: string): Promise<void> {
  respond = given;
  const began = performance.now();
  await assert.rejects(call(), (error) => error instanceof Kind, name);
  assert(performance.now() - began < 5000, `${name} took too long`);
}

const oddTexts = ["", "<html>", "null", "7", '"text"', "[".repeat(100_000)];
for (const text of oddTexts) await assertRefused(() => known.stores.get("card"), body(text), ConnectionFailed, text);
for (const text of [...oddTexts, "{}"]) await assertRefused(() => known.events.list("a").all(), body(text), ConnectionFailed, text);
await assertRefused(() => known.stores.get("card"), stalled(200), ConnectionFailed, "a body that stalls");
await assertRefused(() => known.stores.get("card"), stalled(400), ApiError, "an error that stalls");

const oddErrors = ['{"toString": 1}', "[null]", "5", '[{"Pointer": {"toString": 1}, "Code": [], "Message": null}]'];
for (const errors of oddErrors) {
  const problem = `{"Errors": ${errors}, "detail": {"toString": 1}, "ErrorCount": "many"}`;
  await assertRefused(() => known.stores.get("card"), body(problem, 400), ApiError, errors);
}

const oddTokens = [
  '{"access_token": 3}', '{"access_token": "a\\n"}', '{"access_token": "é"}', '{"error": {"toString": 1}}', "[]", "null",
];
for (const text of oddTokens) await assertRefused(() => withoutToken.stores.list(), body(text), OAuthError, text);
await assertRefused(() => withoutToken.stores.list(), stalled(200), FulfillmentError, "a token that stalls");

for (const link of ["<http://[>", "</x?a=1>", "<".repeat(9000), "<>;".repeat(3000), `<${"?".repeat(9000)}`]) {
  respond = body("[{}]", 200, { Link: `${link}; rel="next"` });
  const began = performance.now();
  assert.equal((await known.events.list("a").all()).length, 1);
  assert(performance.now() - began < 1000, link.slice(0, 9));
}

const metadata = [
  "[]", '{"issuer": {"toString": 1}}', `{"issuer": "${baseUrl}", "authorization_endpoint": "https://evil.example"}`,
];
for (const text of metadata) {
  const start = (): Promise<unknown> => startSignIn({ baseUrl, clientId: "a", redirectUri: "http://127.0.0.1/" });
  await assertRefused(start, body(text), OAuthError, text);
}

respond = body('{"BatchID": "a", "Status": "Checking"}');
const upload = known.batches.upload("card", new Blob(["a"]), { Mode: "Recipients", ProductID: "b" }, { signal: AbortSignal.timeout(500) });
await assert.rejects(Promise.race([upload, new Promise((soon) => setTimeout(soon, 5000))]), { name: "TimeoutError" });

server.closeAllConnections();
server.close();
console.log("done");
