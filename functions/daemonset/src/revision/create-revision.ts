import { objectKey } from "@drover/controller";
import { canonicalJson } from "@drover/json";
import { controllerReference, isApiError, refOf } from "@drover/kube";
import { nameSuffix } from "@drover/workloads";
import { DaemonSet } from "../daemon-set.ts";
import type { DaemonSetRunContext } from "../daemon-set-run.ts";
import { controllerRevision, hashLabel, type Revision, revisionSchema } from "./controller-revision.ts";
import { isPatchTo, templatePatch } from "./template-patch.ts";

const hashLength = 10;

/**
 * Creates the revision of the current template. Its name is derived from the template, so an interrupted run that has
 * created it is recognised. If another template has the name, the DaemonSet's count of collisions makes another name.
 */
export async function createRevision(runContext: DaemonSetRunContext, number: number): Promise<Revision> {
  const { client, daemonSet, template, owner, context } = runContext;
  const { name, namespace = "", annotations } = daemonSet.metadata;
  const hash = nameSuffix([canonicalJson(template), daemonSet.status.collisionCount ?? 0], hashLength);
  const metadata = {
    name: `${name}-${hash}`,
    namespace,
    labels: { ...daemonSet.spec.template.metadata.labels, [hashLabel]: hash },
    ...(annotations && { annotations }),
    ownerReferences: [controllerReference(owner)],
  };
  const revision = { metadata, data: templatePatch(template), revision: number };
  const { signal } = context;
  try {
    return revisionSchema.parse(await client.create(controllerRevision, revision, { signal }));
  } catch (error) {
    if (!isApiError(error, "AlreadyExists")) throw error;
    const key = objectKey({ namespace, name: metadata.name });
    const existing = await client.get(controllerRevision, key, { signal });
    if (existing !== undefined && isPatchTo(existing["data"], template))
      return revisionSchema.parse(existing);
    if (existing !== undefined) await countCollision(runContext);
    throw error;
  }
}

/** For the version that was read, so that no collision is counted twice. */
async function countCollision({ client, daemonSet, context }: DaemonSetRunContext): Promise<void> {
  const { status } = daemonSet;
  const collisionCount = (status.collisionCount ?? 0) + 1;
  const counted = { ...daemonSet, status: { ...status, collisionCount } };
  await client.replace(refOf(DaemonSet), counted, { subresource: "status", signal: context.signal });
}
