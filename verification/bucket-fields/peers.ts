import { readFileSync } from "node:fs";
import { z } from "zod";

const peer = z.object({
  repository: z.string(),
  commit: z.string().optional(),
  version: z.string().optional(),
  /** The part of the product's schema that was read. */
  from: z.string(),
  /** Paths, by the kind or resource that has them. `[]` follows the name of a list. */
  fields: z.record(z.string(), z.array(z.string())),
});
const peersSchema = z.object({ ack: peer, crossplane: peer, terraform: peer });

export type Product = keyof z.output<typeof peersSchema>;

/** A field of another product that configures a bucket. */
export interface PeerField {
  readonly product: Product;
  /** The kind or resource that has the field. */
  readonly kind: string;
  readonly path: string;
}

/**
 * The fields of other products' schemas that are about buckets, without those of objects and of directory buckets. To
 * update fields.json, read the schemas that it names again. The tests then list the fields that have neither a counterpart nor a reason.
 */
export const peers = peersSchema.parse(
  JSON.parse(readFileSync(new URL("fields.json", import.meta.url), "utf8")),
);
export const products = ["ack", "crossplane", "terraform"] as const satisfies readonly Product[];

export const peerFields: readonly PeerField[] = products.flatMap((product) =>
  Object.entries(peers[product].fields).flatMap(([kind, paths]) =>
    paths.map((path) => ({ product, kind, path })),
  ),
);
