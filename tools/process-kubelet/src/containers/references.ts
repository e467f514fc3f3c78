import { objectKey } from "@drover/controller";
import { builtin, type KubeClient, type KubeObject } from "@drover/kube";
import { z } from "zod";

/** A container cannot be started for now: what it refers to is missing. It is tried again. */
export class MissingReferenceError extends Error {
  override readonly name = "MissingReferenceError";
}

export type SourceKind = "secret" | "configMap";
/** The keys of a Secret or a ConfigMap. */
export type Content = ReadonlyMap<string, Buffer>;

/** The Secrets and ConfigMaps of a namespace as they are at one moment: each is read once. */
export interface References {
  /** Undefined when it is not there. */
  find(kind: SourceKind, name: string): Promise<Content | undefined>;
  /** Throws MissingReferenceError when it is not there and not optional. */
  content(kind: SourceKind, source: { name: string; optional: boolean }): Promise<Content>;
}

export function referencesOf(client: Pick<KubeClient, "get">, namespace: string): References {
  const read = new Map<string, Promise<Content | undefined>>();
  const find: References["find"] = (kind, name) => {
    const known = read.get(`${kind}/${name}`);
    if (known !== undefined) return known;
    const asked = client
      .get(builtin[kind], objectKey({ namespace, name }))
      .then((object) => object && contentOf(object, kind));
    read.set(`${kind}/${name}`, asked);
    return asked;
  };
  return {
    find,
    async content(kind, { name, optional }) {
      const found = await find(kind, name);
      if (found === undefined && !optional)
        throw new MissingReferenceError(`${kind.toLowerCase()} "${name}" not found`);
      return found ?? new Map();
    },
  };
}

const texts = z
  .record(z.string(), z.string())
  .nullish()
  .transform((map) => Object.entries(map ?? {}));
const dataSchema = z.object({ data: texts, binaryData: texts });

function contentOf(object: KubeObject, kind: SourceKind): Content {
  const { data, binaryData } = dataSchema.parse(object);
  const decoded = (pairs: typeof data) =>
    pairs.map(([key, value]) => [key, Buffer.from(value, "base64")] as const);
  if (kind === "secret") return new Map(decoded(data));
  const plain = data.map(([key, value]) => [key, Buffer.from(value)] as const);
  return new Map([...plain, ...decoded(binaryData)]);
}
