/** Pictures of what is printed. */
import { refusing } from "./errors";
import { client } from "./settings";

export interface Content {
  TemplateData?: Record<string, unknown> | null;
  Artwork?: { AssetID: string; FirstPage?: number | null } | null;
}

export interface Pictures {
  pages: string[];
  pdf: string;
  /** What may print badly. */
  messages: string[];
}

export async function proofOf(storeId: string, productId: string, { TemplateData, Artwork }: Content): Promise<Pictures> {
  if (Artwork) {
    const proof = await refusing(client().artworks.create(storeId, productId, Artwork));
    return { pages: proof.PageURLs, pdf: proof.PdfURL, messages: proof.Preflight.map((one) => `${one.Severity}: ${one.Message}`) };
  }
  const proof = await refusing(client().proofs.create(storeId, productId, (TemplateData ?? {}) as Record<string, string | null>));
  return { pages: proof.PageURLs, pdf: proof.PdfURL, messages: proof._meta.Messages };
}
