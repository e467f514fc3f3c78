import { objectKey } from "@drover/controller";
import { builtin, isApiError, keyOf, matchesLabels, type NewObject, WriteRefusedError } from "@drover/kube";
import { isNamespaceTerminating, nameSuffix, serverMessageOf } from "@drover/workloads";
import {
  type EndpointSlice,
  endpointSliceSchema,
  identityOf,
  isOwnedBy,
  ownerReferenceTo,
} from "../endpoint-slice.ts";
import type { EndpointSliceRunContext } from "../endpoint-slice-run.ts";
import { portsKey } from "../pods/endpoint-ports.ts";
import type { SliceDraft, SlicePlan } from "./slice-plan.ts";

const triggerTimeAnnotation = "endpoints.kubernetes.io/last-change-trigger-time";
const { endpointSlice } = builtin;

/** A write that the API server has refused. The message is that of kube-controller-manager. */
export class SliceWriteError extends Error {
  override readonly name = "SliceWriteError";
}

/** The common parts of the slices that a run writes. */
export interface WriteOptions {
  readonly triggerTime: string | undefined;
  /** All slices of the Service that the run has decided from. */
  readonly seen: readonly EndpointSlice[];
}

/**
 * Creates, updates and deletes slices, in this order, so that no endpoint is missing in between. A slice that is to be
 * deleted gets the content of one that is to be created. A Service that is being deleted gets no new slices: the garbage
 * collector deletes its slices at the same time.
 *
 * @throws SliceWriteError for the first write that is refused; the others are not sent.
 */
export async function writeSlices(
  runContext: EndpointSliceRunContext,
  plan: SlicePlan,
  options: WriteOptions,
): Promise<void> {
  const { client, context, service } = runContext;
  const { signal } = context;
  const { create, update, remove } = recycle(runContext, plan, options);
  const failTo = (write: string) => refusalOf(`failed to ${write} for Service ${namespaceAndName(service)}`);
  if (service.metadata.deletionTimestamp === undefined)
    for (const [index, draft] of create.entries()) {
      const made = await createSlice(runContext, draft, nameSeed(index, draft, options), options).catch(
        (error: unknown) =>
          isNamespaceTerminating(error) ? "not possible" : failTo("create EndpointSlice")(error),
      );
      if (made === "not possible") return;
    }
  for (const object of update)
    await client
      .replace(endpointSlice, object, { signal })
      .catch(failTo(`update ${object.metadata.name} EndpointSlice`));
  for (const slice of remove) await deleteSlice(runContext, slice, "failed to delete");
}

/** @param failing how the message of a refused deletion begins */
export async function deleteSlice(
  { client, context: { signal }, service }: EndpointSliceRunContext,
  slice: EndpointSlice,
  failing: "failed to delete" | "error deleting",
): Promise<void> {
  await client
    .delete(endpointSlice, keyOf(slice), { uid: slice.metadata.uid, signal })
    .catch(
      refusalOf(`${failing} ${slice.metadata.name} EndpointSlice for Service ${namespaceAndName(service)}`),
    );
}

export const namespaceAndName = ({ metadata }: EndpointSliceRunContext["service"]): string =>
  `${metadata.namespace ?? ""}/${metadata.name}`;

/** Throws errors again: those of the API server with what was to be done. */
const refusalOf =
  (what: string) =>
  (cause: unknown): never => {
    if (cause instanceof WriteRefusedError) throw cause;
    throw new SliceWriteError(`${what}: ${serverMessageOf(cause)}`, { cause });
  };

interface Writes {
  readonly create: readonly SliceDraft[];
  readonly update: readonly NewObject[];
  readonly remove: readonly EndpointSlice[];
}

/** The writes of a plan, in which slices that were to be deleted get the contents of the last ones to be created. */
function recycle(
  { service }: EndpointSliceRunContext,
  { create, update, remove }: SlicePlan,
  options: WriteOptions,
): Writes {
  const left = [...create];
  const updates = update.map((draft) => objectOf(draft, options, draft.current?.metadata));
  const removed = remove.filter((slice) => {
    const draft = isOwnedBy(slice, service) ? left.pop() : undefined;
    if (draft === undefined) return true;
    const { namespace = "", name, uid, resourceVersion } = slice.metadata;
    updates.push(
      objectOf(draft, options, { ...newMetadata(service), namespace, name, uid, resourceVersion }),
    );
    return false;
  });
  return { create: left, update: updates, remove: removed };
}

const newMetadata = (service: EndpointSliceRunContext["service"]) => ({
  namespace: service.metadata.namespace ?? "",
  generateName: `${service.metadata.name}-`,
  ownerReferences: [ownerReferenceTo(service)],
});

function objectOf(
  { current, addressType, labels, ports, endpoints }: SliceDraft,
  { triggerTime }: WriteOptions,
  metadata: (NewObject["metadata"] & Pick<EndpointSlice["metadata"], "annotations">) | undefined,
): NewObject {
  const { [triggerTimeAnnotation]: _, ...others } = metadata?.annotations ?? {};
  const annotations =
    triggerTime === undefined ? others : { ...others, [triggerTimeAnnotation]: triggerTime };
  return {
    ...current,
    metadata: { name: "", ...metadata, labels, annotations },
    addressType,
    ports,
    endpoints,
  };
}

/**
 * The values from which the name of a slice is derived: those that led to its creation. If a run dies or gets no response,
 * and the next one decides the same while a request of the first is still in progress, both request the same name, and the
 * slice exists once.
 */
const nameSeed = (
  index: number,
  { addressType, ports }: SliceDraft,
  { seen }: WriteOptions,
): readonly unknown[] => [
  index,
  addressType,
  portsKey(ports),
  seen.map(({ metadata }) => `${metadata.uid} ${metadata.resourceVersion}`).sort(),
];

async function createSlice(
  { client, context: { signal }, service }: EndpointSliceRunContext,
  draft: SliceDraft,
  seed: readonly unknown[],
  options: WriteOptions,
): Promise<void> {
  const metadata = newMetadata(service);
  for (let others = 0; ; others++) {
    const suffix = nameSuffix([service.metadata.uid, ...seed, others], suffixLength);
    const name = `${metadata.generateName.slice(0, maxBaseLength)}${suffix}`;
    try {
      await client.create(endpointSlice, objectOf(draft, options, { ...metadata, name }), { signal });
      return;
    } catch (error) {
      if (!isApiError(error, "AlreadyExists") || others === maxOthers) throw error;
      const found = await client.get(endpointSlice, objectKey({ ...metadata, name }), { signal });
      // An earlier run has created it: the next one reads it, and continues from there. But runs do not read one that a user has
      // taken away by its labels, or that a finalizer keeps.
      if (found !== undefined && isRead(endpointSliceSchema.parse(found), service)) throw error;
    }
  }
}

/** True if the next run will read this slice, as one of the Service. */
const isRead = (slice: EndpointSlice, service: EndpointSliceRunContext["service"]): boolean =>
  isOwnedBy(slice, service) &&
  slice.metadata.deletionTimestamp === undefined &&
  matchesLabels({ matchLabels: identityOf(service) }, slice.metadata.labels);

/** Number of slices of others with the name of one to be created, after which the run fails. */
const maxOthers = 8;
/** Length of the suffix that Kubernetes adds to `generateName`, and maximum length that it keeps of `generateName`. */
const suffixLength = 5;
const maxBaseLength = 58;
