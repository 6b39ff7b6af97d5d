import { BatchesWithUpload } from "./batches.js";
import { Resources } from "./resources.js";
import { type CallOptions, type ClientOptions, type Download, Transport } from "./transport.js";

/** The API, one member for each group of operations. */
export class Client extends Resources {
  readonly #transport: Transport;
  override readonly batches: BatchesWithUpload;

  constructor(options: ClientOptions) {
    const transport = new Transport(options);
    super(transport);
    this.#transport = transport;
    this.batches = new BatchesWithUpload(transport);
  }

  /** The file at a signed address, such as `PdfURL` of a proof. */
  download(url: string, options: CallOptions = {}): Promise<Download> {
    return this.#transport.download(url, options);
  }
}
