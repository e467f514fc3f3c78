import { type Milliseconds, objectKey } from "@drover/controller";
import { z } from "zod";
import type { KubeClient, NewObject } from "./client.ts";
import { isApiError } from "../errors.ts";
import { keyOf, type KubeObject } from "../objects/kube-object.ts";
import { builtin, type ResourceRef } from "../objects/resource-ref.ts";
import { sleep, processTimers, type Timers } from "@drover/timers";

export interface InstallOptions {
  readonly signal?: AbortSignal;
  readonly timers?: Timers;
}

/** Interval between two checks of a CRD that is not established yet. */
const checkInterval: Milliseconds = 200;

/**
 * Creates an object, or replaces the existing one. If the object changes in between, it starts again. For installation;
 * a controller patches the fields that it owns.
 */
export async function createOrReplace(
  client: KubeClient,
  ref: ResourceRef,
  object: NewObject,
  { signal }: InstallOptions = {},
): Promise<KubeObject> {
  const options = signal === undefined ? {} : { signal };
  for (;;) {
    const present = await client.get(ref, keyOf(object), options);
    try {
      if (present === undefined) return await client.create(ref, object, options);
      const { resourceVersion } = present.metadata;
      return await client.replace(
        ref,
        { ...object, metadata: { ...object.metadata, resourceVersion } },
        options,
      );
    } catch (error) {
      const raced = isApiError(error, "AlreadyExists", "Conflict");
      if (!raced && !(present !== undefined && isApiError(error, "NotFound"))) throw error;
    }
  }
}

/**
 * Installs a CRD and waits until its kind is served.
 *
 * @returns the reference of the CRD's stored version.
 * @throws CrdRefusedError if another CRD has taken its names; otherwise it waits until the signal fires.
 */
export async function installCrd(
  client: KubeClient,
  crd: NewObject,
  options: InstallOptions = {},
): Promise<ResourceRef> {
  await createOrReplace(client, builtin.crd, crd, options);
  return waitEstablished(client, crd.metadata.name, options);
}

/** Waits until a CRD's kind is served. See {@link installCrd}. */
export async function waitEstablished(
  client: KubeClient,
  name: string,
  { signal, timers = processTimers }: InstallOptions = {},
): Promise<ResourceRef> {
  const options = signal === undefined ? {} : { signal };
  for (;;) {
    const crd = await client.get(builtin.crd, objectKey({ name }), options);
    const ref = crd === undefined ? undefined : establishedRefOf(crd);
    if (ref !== undefined && (await isServed(client, ref, options))) return ref;
    await sleep(timers, checkInterval, "CRD to be established", signal);
  }
}

/** A CRD that is never served, because its names are not accepted. */
export class CrdRefusedError extends Error {
  override readonly name = "CrdRefusedError";
  constructor(crd: string, problem: string) {
    super(`CustomResourceDefinition ${crd}: its names are not accepted: ${problem}`);
  }
}

const crdSchema = z.looseObject({
  spec: z.looseObject({
    group: z.string(),
    scope: z.enum(["Namespaced", "Cluster"]),
    names: z.looseObject({ plural: z.string(), kind: z.string() }),
    versions: z.array(z.looseObject({ name: z.string(), storage: z.boolean() })),
  }),
  status: z
    .looseObject({
      conditions: z
        .array(z.looseObject({ type: z.string(), status: z.string(), message: z.string().default("") }))
        .nullish(),
    })
    .nullish(),
});

/**
 * The reference of a CRD's stored version; undefined before the CRD is established.
 *
 * @throws CrdRefusedError if another CRD has taken its names.
 */
export function establishedRefOf(object: KubeObject): ResourceRef | undefined {
  const { spec, status } = crdSchema.parse(object);
  const condition = (type: string) => status?.conditions?.find((one) => one.type === type);
  const names = condition("NamesAccepted");
  if (names?.status === "False") throw new CrdRefusedError(object.metadata.name, names.message);
  const version = spec.versions.find(({ storage }) => storage)?.name;
  if (condition("Established")?.status !== "True" || version === undefined) return undefined;
  const { plural, kind } = spec.names;
  return { group: spec.group, version, plural, kind, namespaced: spec.scope === "Namespaced" };
}

// For a moment after the kind is established, requests for it may be answered with 404 or 429.
async function isServed(client: KubeClient, ref: ResourceRef, options: InstallOptions): Promise<boolean> {
  try {
    await client.list(ref, { ...options, limit: 1, metadataOnly: true });
    return true;
  } catch (error) {
    if (isApiError(error, "Forbidden")) return true;
    if (isApiError(error, "NotServed", "TooManyRequests", "ServerError")) return false;
    throw error;
  }
}
