import { type Announcement, messageOf, type ObjectClient, objectKey, redact } from "@drover/controller";
import {
  ApiError,
  builtin,
  controllerReference,
  isApiError,
  isControlledBy,
  keyOf,
  type NewObject,
  WriteRefusedError,
} from "@drover/kube";
import { nameSuffix } from "./name-suffix.ts";
import type { PodTemplate } from "./object-schemas.ts";
import type { Owner } from "./ownership.ts";
import { type Pod, podSchema } from "./pod.ts";
import { allAtOnce, type BatchResult, slowStart } from "./slow-start.ts";

export interface PodControl {
  readonly client: ObjectClient;
  readonly owner: Owner;
  readonly signal: AbortSignal;
  readonly announce: (announcement: Announcement) => void;
}

/** What is needed to create and delete pods, from the common parts of a run. */
export const podControlOf = ({
  client,
  owner,
  context: { announce, signal },
}: Pick<PodControl, "client" | "owner"> & {
  readonly context: Pick<PodControl, "announce" | "signal">;
}): PodControl => ({ client, owner, announce, signal });

/** Maximum number of pods that a controller creates or deletes in one run: kube-controller-manager's burst. */
export const burstReplicas = 500;

/**
 * Creates pods from a template, in batches that double as long as they succeed. A refused request is announced as an
 * Event. A request that was not sent, because the run no longer holds its key, is not: the next run of the key
 * continues.
 *
 * The names of the pods depend on the pods that were seen when the run decided to create them. Suppose that a run dies
 * or gets no response, and the next run decides the same while a request of the first is still in progress. Then both
 * request the same names, and each pod exists once. A read, however fresh, cannot guarantee that.
 *
 * @param seen all pods of the owner that the decision was based on.
 */
export function createPods(
  control: PodControl,
  template: PodTemplate,
  { count, seen }: { readonly count: number; readonly seen: readonly Pod[] },
): Promise<BatchResult<Pod>> {
  return createEachPod(
    control,
    Array.from({ length: count }, () => ({ template })),
    seen,
  );
}

/** A pod to be created. */
export interface WantedPod {
  readonly template: PodTemplate;
  /** Comes after the owner's name in the pod's name, such as `-3-`. */
  readonly nameEnd?: string;
  /** In place of its index and all pods that were seen: what makes its name differ from those of other pods. */
  readonly distinctBy?: readonly unknown[];
}

/** Creates these pods, as `createPods`. */
export function createEachPod(
  control: PodControl,
  wanted: readonly WantedPod[],
  seen: readonly Pod[],
): Promise<BatchResult<Pod>> {
  const { uid, resourceVersion } = control.owner.metadata;
  const uids = seen.map(({ metadata }) => metadata.uid).sort();
  return slowStart(wanted.length, (index) => {
    const pod = wanted[index];
    if (pod === undefined) throw new Error(`There is no pod ${index}.`);
    return createPod(
      control,
      pod,
      nameSuffix([uid, resourceVersion, ...(pod.distinctBy ?? [uids, pod.nameEnd ?? index])], suffixLength),
    );
  });
}

/** Length of the suffix that Kubernetes adds to `generateName`, and maximum length that it keeps of `generateName`. */
const suffixLength = 5;
const maxBaseLength = 58;
/** The longest name of a Deployment, a ReplicaSet or a Pod. */
export const maxNameLength = 253;

async function createPod(
  control: PodControl,
  { template, nameEnd }: WantedPod,
  suffix: string,
): Promise<Pod> {
  const { client, owner, announce, signal } = control;
  const wanted = podOf(owner, template, nameEnd);
  const { generateName } = wanted.metadata;
  const named = { ...wanted.metadata, name: `${generateName.slice(0, maxBaseLength)}${suffix}` };
  try {
    const made = await client.create(builtin.pod, { ...wanted, metadata: named }, { signal });
    announce(podAnnouncement("Normal", "SuccessfulCreate", `Created pod: ${made.metadata.name}`));
    return podSchema.parse(made);
  } catch (error) {
    const earlier = isApiError(error, "AlreadyExists") ? await findOwnPod(control, named.name) : undefined;
    if (earlier !== undefined) return earlier;
    if (!isNamespaceTerminating(error) && !(error instanceof WriteRefusedError))
      announce(podAnnouncement("Warning", "FailedCreate", `Error creating: ${serverMessageOf(error)}`));
    throw error;
  }
}

/** Without a dash if the name has the maximum length, as in kube-controller-manager (getPodsPrefix). */
const prefixOf = (name: string): string => (name.length < maxNameLength ? `${name}-` : name);

/** The name and its end, without as much of the name as is too long (podGenerateNameWithIndex). */
const endingWith = (name: string, end: string): string =>
  `${name.slice(0, Math.max(0, maxBaseLength - end.length))}${end}`;

function podOf({ ref, metadata }: Owner, template: PodTemplate, nameEnd?: string) {
  const { namespace = "", name } = metadata;
  const { labels, annotations, finalizers } = template.metadata;
  return {
    metadata: {
      namespace,
      generateName: nameEnd === undefined ? prefixOf(name) : endingWith(name, nameEnd),
      ...(labels && { labels }),
      ...(annotations && { annotations }),
      ...(finalizers && { finalizers }),
      ownerReferences: [controllerReference({ ref, metadata })],
    },
    ...(template.spec && { spec: template.spec }),
  } satisfies Omit<NewObject, "metadata"> & { metadata: object };
}

/** The pod with this name, if the owner controls it: an earlier run has created it. */
async function findOwnPod({ client, owner, signal }: PodControl, name: string): Promise<Pod | undefined> {
  const { namespace = "" } = owner.metadata;
  const found = await client.get(builtin.pod, objectKey({ namespace, name }), { signal });
  return found !== undefined && isControlledBy(found.metadata, owner.metadata)
    ? podSchema.parse(found)
    : undefined;
}

/** Deletes pods, all at once. A pod that has been replaced by another, or is gone, counts as done. */
export const deletePods = (control: PodControl, pods: readonly Pod[]): Promise<BatchResult<Pod>> =>
  allAtOnce(pods, (pod) => deletePod(control, pod));

/** The same for one pod. */
export async function deletePod({ client, announce, signal }: PodControl, pod: Pod): Promise<Pod> {
  const { name, uid } = pod.metadata;
  try {
    const wasThere = await client.delete(builtin.pod, keyOf(pod), { uid, signal });
    if (wasThere) announce(podAnnouncement("Normal", "SuccessfulDelete", `Deleted pod: ${name}`));
  } catch (error) {
    // A conflict means that another pod has the name.
    if (isApiError(error, "Conflict")) return pod;
    if (!(error instanceof WriteRefusedError))
      announce(podAnnouncement("Warning", "FailedDelete", `Error deleting: ${serverMessageOf(error)}`));
    throw error;
  }
  return pod;
}

const podAnnouncement = (type: Announcement["type"], reason: string, note: string): Announcement => ({
  type,
  reason,
  note,
  action: reason.endsWith("Create") ? "CreatePod" : "DeletePod",
});

/** The text of an error for people: for an ApiError, the API server's own message. */
export const serverMessageOf = (error: unknown): string =>
  error instanceof ApiError ? redact(error.serverMessage) : messageOf(error);

/** True if the namespace is being deleted: every creation in it is refused, which is not a failure. */
export function isNamespaceTerminating(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false;
  const { details } = error;
  const causes = typeof details === "object" && details !== null && "causes" in details ? details.causes : [];
  return (
    Array.isArray(causes) &&
    causes.some((cause: unknown) => JSON.stringify(cause).includes('"NamespaceTerminating"'))
  );
}
