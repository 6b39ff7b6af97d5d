/** How a call is made: its headers, its tries and what comes of it. */
import { type Credentials, safeAddress, TokenSource, tokenRequest, type Tokens, tokensOf } from "./auth.js";
import { ApiError, ConnectionFailed, errorOf, TimedOut } from "./errors.js";
import { objectOf } from "./json.js";
import { type Retries, USUAL_RETRIES, waitAfter } from "./retries.js";
import { VERSION } from "./version.js";

/**
 * A Blob is read as it is sent: in Node.js, `await openAsBlob(path)` makes one of a file. A stream (`ReadableStream`,
 * `createReadStream(path)`) is read to its end first: the service wants the length, and a second try the same bytes.
 */
export type UploadBody = Blob | Uint8Array | ArrayBuffer | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>;
type Content = Exclude<UploadBody, ReadableStream | AsyncIterable<unknown>>;

export interface CallOptions {
  signal?: AbortSignal | undefined;
  /** Seconds for each try. */
  timeout?: number | undefined;
  /** The `ETag` of what was read: the call is refused if it has changed since. */
  ifMatch?: string | undefined;
  /** Made for each call if it is left out. */
  idempotencyKey?: string | undefined;
  /** Of a file; found from its first bytes if it is left out. */
  contentType?: string | undefined;
}

export interface Call {
  operation: string;
  method: string;
  path: string;
  query?: Readonly<Record<string, unknown>>;
  body?: unknown;
  file?: UploadBody;
  takesKey?: boolean;
  isRepeatable?: boolean;
  accept?: string;
  options: CallOptions;
}

export interface ClientOptions {
  baseUrl: string;
  subscriptionKey: string;
  credentials: Credentials;
  /** Seconds for each try; 30 if it is left out. */
  timeout?: number;
  retries?: Partial<Retries>;
  /** Written before the library's own; browsers send theirs. */
  userAgent?: string;
  fetch?: typeof globalThis.fetch;
  /** Sends keys and tokens over http:// to hosts other than this machine, in clear. */
  allowHttp?: boolean | undefined;
}

type Read = (response: Response) => Promise<unknown>;

/** `read` is what was read of the body: an ApiError where the status is one. */
interface Outcome {
  found: Response;
  read: unknown;
}

const ROOT = "/api/v1";
const headersByAnswer = new WeakMap<object, Headers>();

/** The headers of the answer that an operation returned. */
export function headersOf(answer: object): Headers {
  const headers = headersByAnswer.get(answer);
  if (headers === undefined) throw new TypeError("Only what an operation returned has headers, no copy of it and no part of it.");
  return headers;
}

/** The version of a record, for `ifMatch` of a later change. */
export function etagOf(answer: object): string | undefined {
  return headersOf(answer).get("ETag") ?? undefined;
}

/** A path parameter: nothing in it leads to another address. */
export function quoted(name: string): string {
  if (name === "" || name === "." || name === "..") throw new TypeError(`"${name}" cannot be part of an address`);
  return encodeURIComponent(name).replaceAll("%40", "@");
}

/** A file that is read as it comes. `body` is a stream; `await writeFile(path, file.body)` saves it in Node.js. */
export class Download {
  readonly headers: Headers;
  readonly #response: Response;

  constructor(response: Response) {
    this.headers = response.headers;
    this.#response = response;
  }

  get body(): ReadableStream<Uint8Array> {
    return this.#response.body ?? new Blob([]).stream();
  }

  get mediaType(): string {
    return (this.headers.get("Content-Type") ?? "").split(";")[0] ?? "";
  }

  bytes(): Promise<Uint8Array> {
    return this.#response.arrayBuffer().then((buffer) => new Uint8Array(buffer));
  }

  blob(): Promise<Blob> {
    return this.#response.blob();
  }

  text(): Promise<string> {
    return this.#response.text();
  }
}

export class Transport {
  readonly #options: ClientOptions;
  readonly #baseUrl: string;
  readonly #retries: Retries;
  readonly #tokens: TokenSource;
  readonly #fetch: typeof globalThis.fetch;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#baseUrl = safeAddress(options.baseUrl, options.allowHttp);
    this.#retries = { ...USUAL_RETRIES, ...options.retries };
    this.#tokens = new TokenSource(options.credentials);
    // Bound to nothing: browsers refuse a fetch that is called as a method of something else.
    this.#fetch = options.fetch ?? ((request, init) => globalThis.fetch(request, init));
  }

  async json<T>(call: Call): Promise<T> {
    const [answer] = await this.page<T>(call);
    return answer;
  }

  async page<T>(call: Call): Promise<[T, Headers]> {
    const response = await this.#exchange(call, (found) => found.json());
    const answer = response.read;
    if (typeof answer !== "object" || answer === null) {
      throw new ConnectionFailed(`${call.method} ${call.path}: the response is neither an object nor a list`);
    }
    headersByAnswer.set(answer, response.found.headers);
    return [answer as T, response.found.headers];
  }

  async nothing(call: Call): Promise<void> {
    await this.#exchange(call, (found) => found.arrayBuffer());
  }

  async file(call: Call): Promise<Download> {
    return new Download((await this.#exchange(call)).found);
  }

  /** A signed address opens without credentials, and gets none. */
  async download(url: string, options: CallOptions = {}): Promise<Download> {
    const call: Call = { operation: "download", method: "GET", path: url, isRepeatable: true, options };
    const outcome = await this.#tries(call, () => new Request(url, { headers: this.#userAgent() }), readBy());
    return new Download(successOf(outcome).found);
  }

  async #exchange(given: Call, read?: Read): Promise<Outcome> {
    const call = given.file === undefined ? given : { ...given, file: await contentOf(given.file) };
    const headers = await this.#headers(call);
    let token = await this.#token();
    const send = (): ReturnType<Transport["request"]> => this.request(call, headers, token);
    let outcome = await this.#tries(call, send, readBy(read));
    if (outcome.found.status === 401 && (outcome.found.headers.get("WWW-Authenticate") ?? "").includes("invalid_token")) {
      const refused = token;
      token = await this.#token(refused);
      if (token !== refused) outcome = await this.#tries(call, send, readBy(read));
    }
    return successOf(outcome);
  }

  request(call: Call, headers: Headers, token: string): Request {
    const url = new URL(this.#baseUrl + ROOT + call.path);
    for (const [name, value] of Object.entries(call.query ?? {})) {
      for (const one of Array.isArray(value) ? value : [value]) {
        if (one !== undefined && one !== null) url.searchParams.append(name, one instanceof Date ? one.toISOString() : String(one));
      }
    }
    const sent = new Headers(headers);
    sent.set("Authorization", `Bearer ${token}`);
    const body = call.file ?? (call.body === undefined ? null : JSON.stringify(call.body));
    return new Request(url, { method: call.method, headers: sent, body: body as BodyInit | null, redirect: "manual" });
  }

  /** The same for every try: the key is what lets the service recognise a repeated request. */
  async #headers(call: Call): Promise<Headers> {
    const headers = this.#userAgent();
    headers.set("Accept", call.accept ?? "application/json");
    headers.set("Ocp-Apim-Subscription-Key", this.#options.subscriptionKey);
    if (call.options.ifMatch !== undefined) headers.set("If-Match", call.options.ifMatch);
    if (call.takesKey) headers.set("Idempotency-Key", call.options.idempotencyKey ?? crypto.randomUUID());
    if (call.file !== undefined) headers.set("Content-Type", call.options.contentType ?? (await mediaType(await contentOf(call.file))));
    else if (call.body !== undefined) headers.set("Content-Type", "application/json");
    return headers;
  }

  #userAgent(): Headers {
    // A browser sends its own, and would ask the service whether another one is allowed.
    if (typeof document !== "undefined") return new Headers();
    return new Headers({ "User-Agent": `${this.#options.userAgent ?? ""} store-fulfillment-js/${VERSION}`.trim() });
  }

  #token(refused?: string): Promise<string> {
    return this.#tokens.token((form) => this.#renew(form), refused);
  }

  async #renew(form: Record<string, string>): Promise<Tokens> {
    const own = this.#options.credentials as { clientId: string; clientSecret?: string };
    // A refresh token used twice ends the session: it is not sent again, for it may have arrived.
    const isRepeatable = form["grant_type"] !== "refresh_token";
    const call: Call = { operation: "token", method: "POST", path: "/oauth/token", isRepeatable, options: {} };
    const request = (): Request => tokenRequest(this.#baseUrl, own.clientId, own.clientSecret, form);
    const { found, read } = await this.#tries(call, request, objectOf);
    return tokensOf(found, read as Record<string, unknown>);
  }

  async #tries(call: Call, request: () => Request, read: Read): Promise<Outcome> {
    const began = performance.now();
    for (let tries = 1; ; tries++) {
      const outcome = await this.#once(call, request(), read);
      if (!(outcome instanceof Error)) {
        const { found } = outcome;
        // The try before removed it, and its answer was lost.
        if (call.method === "DELETE" && tries > 1 && found.status === 404) return { found: new Response(null), read: undefined };
        if (found.ok) return outcome;
      }
      const answer = outcome instanceof Error ? outcome : outcome.found;
      const wait = waitAfter(this.#retries, call, tries, answer, (performance.now() - began) / 1000);
      if (wait === undefined) {
        if (!(outcome instanceof Error)) return outcome;
        const Kind = outcome.name === "TimeoutError" ? TimedOut : ConnectionFailed;
        throw new Kind(`${call.method} ${call.path}: ${outcome.message} (tries: ${tries})`, { cause: outcome });
      }
      await pause(wait, call.options.signal);
    }
  }

  async #once(call: Call, request: Request, read: Read): Promise<Outcome | Error> {
    const { signal } = call.options;
    signal?.throwIfAborted();
    const seconds = call.options.timeout ?? this.#options.timeout ?? 30;
    // Not AbortSignal.timeout: that would go on while a file is read.
    const timeout = new AbortController();
    const timer = setTimeout(() => timeout.abort(new DOMException(`no answer within ${seconds} s`, "TimeoutError")), seconds * 1000);
    try {
      const found = await this.#fetch(request, { signal: signal ? AbortSignal.any([signal, timeout.signal]) : timeout.signal });
      const outcome = { found, read: await read(found) };
      signal?.throwIfAborted();
      return outcome;
    } catch (error) {
      signal?.throwIfAborted();
      return error instanceof Error ? error : new Error(String(error));
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Errors are read within the timeout too. */
function readBy(read?: Read): Read {
  return async (found) => (found.ok ? read?.(found) : errorOf(found));
}

function successOf(outcome: Outcome): Outcome {
  if (outcome.read instanceof ApiError) throw outcome.read;
  return outcome;
}

async function contentOf(file: UploadBody): Promise<Content> {
  if (file instanceof Blob || file instanceof ArrayBuffer || file instanceof Uint8Array) return file;
  if (file instanceof ReadableStream) return new Response(file).blob();
  const pieces: BlobPart[] = [];
  for await (const piece of file) pieces.push(piece as BlobPart);
  return new Blob(pieces);
}

async function mediaType(file: Content): Promise<string> {
  const start = new Uint8Array(file instanceof Blob ? await file.slice(0, 5).arrayBuffer() : file.slice(0, 5));
  const starts = (...bytes: number[]): boolean => bytes.every((byte, place) => start[place] === byte);
  if (starts(0x89, 0x50, 0x4e, 0x47)) return "image/png";
  if (starts(0xff, 0xd8, 0xff)) return "image/jpeg";
  if (starts(0x42, 0x4d)) return "image/bmp";
  if (starts(0x25, 0x50, 0x44, 0x46, 0x2d)) return "application/pdf";
  return (file instanceof Blob && file.type) || "application/octet-stream";
}

export function pause(seconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, seconds * 1000);
    signal?.addEventListener("abort", stop, { once: true });
  });
}
