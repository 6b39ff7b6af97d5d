/** Lists that come in pages: iterate over the things, or over `pages()`. */
import { ConnectionFailed } from "./errors.js";
import type { Call, Transport } from "./transport.js";

// The query of the link to the next page. Bounded, because a long hostile header would take quadratic time.
const NEXT = /<[^<>?]{0,2000}\?([^<>#]{0,9000})(?:#[^<>]{0,2000})?>\s{0,9};[^,]{0,200}\brel="?next"?/;

/** `cursor` is the value of `after` that goes on behind this page. */
export interface Page<T> {
  items: T[];
  cursor: string | undefined;
  headers: Headers;
}

export class Pages<T> implements AsyncIterable<T> {
  readonly #transport: Transport;
  readonly #call: Call;

  constructor(transport: Transport, call: Call) {
    this.#transport = transport;
    this.#call = call;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for await (const page of this.pages()) yield* page.items;
  }

  async *pages(): AsyncGenerator<Page<T>, void, undefined> {
    for (let call = this.#call; ; ) {
      const [page, query] = await this.#read(call);
      yield page;
      // A list that may still grow names a next page for ever.
      if (page.cursor === undefined || page.items.length === 0) return;
      call = { ...call, query };
    }
  }

  async first(): Promise<Page<T>> {
    return (await this.#read(this.#call))[0];
  }

  /** All of it; mind how much that may be. */
  async all(): Promise<T[]> {
    const found: T[] = [];
    for await (const one of this) found.push(one);
    return found;
  }

  async #read(call: Call): Promise<[Page<T>, Record<string, string[]>]> {
    const [items, headers] = await this.#transport.page<T[]>(call);
    if (!Array.isArray(items)) throw new ConnectionFailed(`${this.#call.method} ${this.#call.path}: the response is not a list`);
    const link = NEXT.exec(headers.get("Link") ?? "");
    const query: Record<string, string[]> = {};
    for (const [name, value] of new URLSearchParams(link?.[1] ?? "")) (query[name] ??= []).push(value);
    return [{ items, cursor: query["after"]?.[0], headers }, query];
  }
}
