import { type Log, messageOf, objectKey } from "@drover/controller";
import {
  builtin,
  isApiError,
  type KubeClient,
  type KubeObject,
  type ResourceRef,
  secretValues,
} from "@drover/kube";
import { z } from "zod";

/** An object of the installation cannot be used. The message says what to do, and shows nothing of its content. */
export class SetupError extends Error {
  override readonly name = "SetupError";
}

export interface KeepOptions {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly log: Log;
  readonly signal: AbortSignal;
}

type Values = Readonly<Record<string, string>>;

/** A Secret or ConfigMap of the installation. */
export interface KeptObject<Content> {
  /** Secrets or ConfigMaps. */
  readonly ref: ResourceRef;
  readonly name: string;
  /** The type of a Secret. */
  readonly type?: string;
  /**
   * @param isMade false for an object that the deployer has not made, and so does not change.
   * @throws Error with the problem if the values cannot be used.
   */
  readonly read: (values: Values, isMade: boolean) => Content;
  readonly make: () => Values | Promise<Values>;
  /** The values to write in place of these. Undefined: they stay. */
  readonly change?: (content: Content) => Values | undefined | Promise<Values | undefined>;
}

const managedBy = "app.kubernetes.io/managed-by";
const deployer = "drover-deployer";

/**
 * Returns the content of the object. Makes the object if it does not exist, and changes it if `change` asks for it and
 * the deployer has made it. Of several callers at the same time the first one writes, and all return its content.
 *
 * @throws SetupError for an object that cannot be used. It is left as it is.
 */
export async function keepObject<Content>(options: KeepOptions, kept: KeptObject<Content>): Promise<Content> {
  const { client, namespace, log, signal } = options;
  const { ref, name } = kept;
  const key = objectKey({ namespace, name });
  for (;;) {
    const present = await client.get(ref, key, { signal });
    try {
      if (present === undefined) {
        const metadata = { namespace, name, labels: { [managedBy]: deployer } };
        const { type } = kept;
        const object = {
          metadata,
          ...(type !== undefined && { type }),
          data: encode(kept, await kept.make()),
        };
        await client.create(ref, object, { signal });
        log.info({ object: `${ref.kind} ${key}` }, "Made an object of the installation");
        continue;
      }
      const isMade = present.metadata.labels?.[managedBy] === deployer;
      const content = readContent(options, kept, present, isMade);
      const wanted = isMade ? await kept.change?.(content) : undefined;
      if (wanted === undefined) return content;
      const { resourceVersion, uid } = present.metadata;
      const body = { metadata: { resourceVersion, uid }, data: encode(kept, wanted) };
      await client.patch(ref, key, { type: "merge", body }, { signal });
      log.info({ object: `${ref.kind} ${key}` }, "Changed an object of the installation");
    } catch (error) {
      // Another deployer has written it, or it was deleted: read it again.
      if (isApiError(error, "AlreadyExists", "Conflict")) continue;
      if (present === undefined || !isApiError(error, "NotFound")) throw error;
    }
  }
}

const encode = ({ ref }: Pick<KeptObject<unknown>, "ref">, values: Values): Values =>
  ref === builtin.configMap
    ? values
    : Object.fromEntries(
        Object.entries(values).map(([name, text]) => [name, Buffer.from(text).toString("base64")]),
      );

const configMapSchema = z.looseObject({ data: z.record(z.string(), z.string()).default({}) });

function readContent<Content>(
  { namespace }: KeepOptions,
  { ref, name, read }: KeptObject<Content>,
  present: KubeObject,
  isMade: boolean,
): Content {
  try {
    const values = ref === builtin.secret ? secretValues(present) : configMapSchema.parse(present).data;
    return read(values, isMade);
  } catch (error) {
    const problem = error instanceof z.ZodError ? "its data cannot be read" : messageOf(error);
    throw new SetupError(
      `The ${ref.kind} ${namespace}/${name} cannot be used: ${problem}. Correct it, or delete it (kubectl delete ` +
        `${ref.kind.toLowerCase()} ${name} --namespace ${namespace}): then the deployer makes a new one.`,
    );
  }
}
