import type { Access } from "@drover/controller";
import { builtin, keyOf, type KubeClient, type KubeObject, listAll } from "@drover/kube";
import { type Author, permitLabel, permitName, type PermittedUse } from "@drover/runtime";
import { z } from "zod";

/** The record of what a function was permitted, and of its author. */
export interface PermitRecord extends PermittedUse {
  readonly uid: string;
  /** `namespace/name`, for users that read the ConfigMap. */
  readonly function: string;
  readonly author: Author;
  readonly accesses: readonly Access[];
}

/** The permits as objects: ConfigMaps in the deployer's own namespace. */
export interface PermitRecords {
  get(uid: string, signal: AbortSignal): Promise<PermitRecord | undefined>;
  list(signal: AbortSignal): Promise<readonly PermitRecord[]>;
  store(record: PermitRecord, signal: AbortSignal): Promise<void>;
  drop(uid: string, signal: AbortSignal): Promise<void>;
}

const jsonOf = <Schema extends z.ZodType>(schema: Schema) =>
  z
    .string()
    .transform((text, context): unknown => {
      try {
        return JSON.parse(text);
      } catch {
        context.addIssue({ code: "custom", message: "not JSON" });
        return z.NEVER;
      }
    })
    .pipe(schema);

const accessSchema = z.object({
  verb: z.string(),
  group: z.string(),
  resource: z.string(),
  namespace: z.string().optional(),
  subresource: z.string().optional(),
  name: z.string().optional(),
});
const recordSchema = z.object({
  uid: z.string(),
  function: z.string(),
  followed: z.string(),
  called: z.string(),
  author: jsonOf(z.object({ user: z.string(), groups: z.array(z.string()) })),
  accesses: jsonOf(z.array(accessSchema)),
});
const configMapSchema = z.looseObject({ data: recordSchema });

/** The data of a record's ConfigMap. */
const dataOf = ({ author, accesses, ...texts }: PermitRecord) => ({
  ...texts,
  author: JSON.stringify(author),
  accesses: JSON.stringify(accesses),
});

/** The record as it is read back from its ConfigMap. */
export const asRecorded = (record: PermitRecord): PermitRecord => recordSchema.parse(dataOf(record));

/** @param namespace the deployer's own: a user that may write there can act as the deployer. */
export function permitRecords(client: KubeClient, namespace: string): PermitRecords {
  const metadataOf = (uid: string) => ({
    name: permitName(uid),
    namespace,
    labels: { [permitLabel]: "true" },
  });
  return {
    get: async (uid, signal) =>
      recordIn(await client.get(builtin.configMap, keyOf({ metadata: metadataOf(uid) }), { signal })),
    async list(signal) {
      const objects = await listAll(client, builtin.configMap, {
        namespace,
        labelSelector: permitLabel,
        signal,
      });
      return objects.flatMap((object) => recordIn(object) ?? []);
    },
    async store(record, signal) {
      const metadata = metadataOf(record.uid);
      const data = dataOf(record);
      const key = keyOf({ metadata });
      const present = await client.get(builtin.configMap, key, { signal });
      if (present === undefined) await client.create(builtin.configMap, { metadata, data }, { signal });
      else
        await client.patch(builtin.configMap, key, { type: "merge", body: { metadata, data } }, { signal });
    },
    async drop(uid, signal) {
      await client.delete(builtin.configMap, keyOf({ metadata: metadataOf(uid) }), { signal });
    },
  };
}

/** Undefined for a ConfigMap that is not in this version's format: it permits nothing. */
const recordIn = (object: KubeObject | undefined): PermitRecord | undefined =>
  configMapSchema.safeParse(object).data?.data;
