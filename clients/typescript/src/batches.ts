import type * as models from "./models.js";
import { Batches } from "./resources.js";
import { type CallOptions, pause, type UploadBody } from "./transport.js";

const EVERY_SECONDS = 1;

export type BatchProgress = {
  /** Gets the batch about once a second; its `Progress` says how far the check is. */
  onProgress?: (batch: models.Batch) => void;
};

/** Batches with a helper: `client.batches.upload` makes one of a file and waits for its check. */
export class BatchesWithUpload extends Batches {
  /** Makes a batch, sends its rows and waits until they are checked. */
  async upload(
    storeID: string,
    file: UploadBody,
    batch: models.BatchRequest,
    options: BatchProgress & CallOptions = {},
  ): Promise<models.Batch> {
    const { onProgress, ...call } = options;
    const { BatchID: id } = await this.create(storeID, batch, { signal: call.signal, timeout: call.timeout });
    await this.replaceRows(storeID, id, file, call);
    return this.wait(storeID, id, options);
  }

  /** Waits until the batch is checked or ordered, or an approval is pending. */
  async wait(
    storeID: string,
    batchID: string,
    options: BatchProgress & Pick<CallOptions, "signal" | "timeout"> = {},
  ): Promise<models.Batch> {
    const { signal, timeout } = options;
    for (;;) {
      const found = await this.get(storeID, batchID, { signal, timeout });
      options.onProgress?.(found);
      const isBusy = found.Status === "Checking" || found.Status === "Ordering";
      if (!isBusy || found.Approval?.State === "Pending") return found;
      await pause(EVERY_SECONDS, signal);
    }
  }
}
