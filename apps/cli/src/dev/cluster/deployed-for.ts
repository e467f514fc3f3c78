import { type ObjectKey, ReconcileFunction } from "@drover/controller";
import {
  builtin,
  keyOf,
  type KubeClient,
  type KubeObject,
  labelSelectorIn,
  matchesLabels,
  refOf,
  type ResourceRef,
} from "@drover/kube";
import { z } from "zod";
import { listServed } from "../../deployed-functions.ts";

/** Only these fields: the spec may be of a newer version of Drover. One that cannot be read excludes no object. */
const specSchema = z.looseObject({
  for: z.looseObject({
    group: z.string(),
    plural: z.string(),
    namespaces: z.array(z.string()).optional().catch(undefined),
    labelSelector: z.unknown().optional(),
  }),
  paused: z.boolean().optional().catch(undefined),
});

/** A deployed function that runs an object. */
export interface DeployedFor {
  /** `namespace/name` of the ReconcileFunction, or of the Deployment of one with a bridge in its process. */
  readonly key: string;
  readonly isPaused: boolean;
}

export interface DeployedForOptions {
  readonly client: Pick<KubeClient, "list" | "get">;
  readonly ref: ResourceRef;
  /** The Deployment of a function with a bridge in its process. */
  readonly embedded: ObjectKey | undefined;
}

/** The deployed functions that run an object. None in a cluster without Drover. */
export async function deployedFor(
  options: DeployedForOptions,
  object: KubeObject,
): Promise<readonly DeployedFor[]> {
  const { client, embedded } = options;
  const isThere = embedded !== undefined && (await client.get(builtin.deployment, embedded)) !== undefined;
  return [
    ...(await registeredFor(options, object)),
    ...(isThere ? [{ key: embedded, isPaused: false }] : []),
  ];
}

async function registeredFor(
  { client, ref }: DeployedForOptions,
  { metadata }: KubeObject,
): Promise<readonly DeployedFor[]> {
  const all = await listServed(client, refOf(ReconcileFunction));
  return all.flatMap((object) => {
    const { data } = specSchema.safeParse(object["spec"]);
    if (data?.for.group !== ref.group || data.for.plural !== ref.plural) return [];
    const { namespaces, labelSelector } = data.for;
    if (namespaces !== undefined && !namespaces.includes(metadata.namespace ?? "")) return [];
    if (!isSelected(labelSelector, metadata.labels)) return [];
    return [{ key: keyOf(object), isPaused: data.paused === true }];
  });
}

/** True also for a selector that cannot be read. */
function isSelected(selector: unknown, labels: KubeObject["metadata"]["labels"]): boolean {
  const read = labelSelectorIn(selector);
  return read === undefined || matchesLabels(read, labels);
}
