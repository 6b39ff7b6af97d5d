import { authenticate, defineMiddlewares, validateAndTransformBody } from "@medusajs/framework/http";
import { z } from "@medusajs/framework/zod";

import { Artwork } from "../print/lines";

export const ProofBody = z.object({
  variant_id: z.string(),
  fields: z.record(z.string(), z.string().nullable()).default({}),
  artwork: Artwork.optional(),
});
export const MappingBody = z.object({
  store_id: z.string().min(1),
  product_id: z.string().min(1),
  pieces: z.number().int().positive(),
  fields: z.record(z.string(), z.string()).default({}),
});

export type ProofBody = z.infer<typeof ProofBody>;
export type MappingBody = z.infer<typeof MappingBody>;

export default defineMiddlewares({
  routes: [
    { matcher: "/hooks/print", method: ["POST"], bodyParser: { preserveRawBody: true } },
    { matcher: "/store/print/proof", method: ["POST"], middlewares: [validateAndTransformBody(ProofBody as never)] },
    { matcher: "/admin/print*", middlewares: [authenticate("user", ["session", "bearer", "api-key"])] },
    { matcher: "/admin/print/variants/:id", method: ["POST"], middlewares: [validateAndTransformBody(MappingBody as never)] },
  ],
});
