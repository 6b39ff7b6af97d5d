// A page of another site: signs a person in, and reads, draws and uploads with the library as it is built.
import { Client, finishSignIn, headersOf, startSignIn } from "/store-fulfillment/index.js";

const given = await (await fetch("/given.json")).json();
const { url: baseUrl, clientId, subscriptionKey } = given;
const redirectUri = `${location.origin}/callback`;

async function use(tokens) {
  const renewed = [];
  const client = new Client({
    baseUrl,
    subscriptionKey,
    // Over at once: the first call renews it.
    credentials: { clientId, tokens: { ...tokens, expiresAt: 0 }, onTokens: (kept) => renewed.push(kept) },
  });
  const stores = await client.stores.list();
  const proof = await client.proofs.create("demo", given.product, { Name: "Ada Lovelace", Email: "ada@example.com" });
  const file = await client.download(proof.PdfURL);
  const picture = await (await fetch("/picture.png")).blob();
  const [whole, streamed] = [
    await client.assets.create("demo", picture),
    await client.assets.create("demo", picture.stream()),
  ];
  const refusal = await client.products.get("demo", "nothing").catch((error) => error);
  return {
    stores: stores.map((store) => store.StoreID),
    hasLimit: headersOf(stores).has("RateLimit"),
    renewed: renewed.length,
    pdf: (await file.text()).slice(0, 4),
    widths: [whole.Width, streamed.Width],
    refusal: [refusal.name, refusal.status, refusal.code],
  };
}

if (location.pathname === "/callback") {
  const signIn = JSON.parse(sessionStorage.getItem("signIn"));
  const found = await finishSignIn(signIn, location.href).then(use).catch((error) => ({ failed: String(error) }));
  document.querySelector("#said").textContent = JSON.stringify(found);
} else {
  const signIn = await startSignIn({ baseUrl, clientId, redirectUri, scopes: ["Store.Self.Read", "Order.Self.Write"] });
  sessionStorage.setItem("signIn", JSON.stringify(signIn));
  location.href = signIn.url;
}
