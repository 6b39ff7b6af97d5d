import type { MedusaRequest, MedusaResponse } from "@medusajs/framework/http";
import type { models } from "store-fulfillment";
import { verifyWebhook, WebhookVerificationError } from "store-fulfillment/webhooks";

import { prints } from "../../../print/container";
import { follow } from "../../../print/follow";
import { webhookSecrets } from "../../../print/settings";

/**
 * Webhooks of the service. One that was recorded or sent again does no harm: it is not taken after five minutes, and
 * before that it only leads to a look at the order as it is.
 */
export async function POST(request: MedusaRequest, response: MedusaResponse): Promise<void> {
  const event = verified((request.rawBody ?? "") as string | Buffer, request.headers);
  if (event === undefined) {
    response.status(401).json({ message: "The signature is not of FULFILLMENT_WEBHOOK_SECRETS, or is too old." });
    return;
  }
  if (event.Type.startsWith("order.")) {
    const { ExternalID } = (event as models.OrderEvent).Data;
    if (ExternalID) await follow(ExternalID);
  }
  await prints().recordContact({ id: "webhook" });
  response.status(204).end();
}

function verified(body: string | Buffer, headers: MedusaRequest["headers"]): models.Event | undefined {
  for (const secret of webhookSecrets()) {
    try {
      return verifyWebhook(secret, body, headers);
    } catch (error) {
      if (!(error instanceof WebhookVerificationError)) throw error;
    }
  }
  return undefined;
}
