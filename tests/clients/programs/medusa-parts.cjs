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
    }),
  );
}

main();
