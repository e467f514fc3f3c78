import { builtin, keyOf } from "@drover/kube";
import { adoptAndRelease, findMatching, findStrayed, type Pod } from "@drover/workloads";
import type { DaemonSetRunContext } from "../daemon-set-run.ts";
import {
  controllerRevision,
  hashLabel,
  hashOf,
  type Revision,
  revisionSchema,
} from "./controller-revision.ts";
import { createRevision } from "./create-revision.ts";
import { isPatchTo } from "./template-patch.ts";

/** The revisions of a DaemonSet, and its pods as they are labelled. */
export interface Revisions {
  /** The hash of the current template's revision. */
  readonly hash: string;
  readonly old: readonly Revision[];
  readonly pods: readonly Pod[];
}

/**
 * The revisions of a DaemonSet. One is created for the current template if it has none; one that exists gets the highest
 * number, so a template that was set back becomes the newest again.
 */
export async function findRevisions(
  runContext: DaemonSetRunContext,
  pods: readonly Pod[],
): Promise<Revisions> {
  const all = await Promise.all((await claimRevisions(runContext)).map((one) => withHash(runContext, one)));
  const isCurrent = ({ data }: Revision): boolean => isPatchTo(data, runContext.template);
  const [current, old] = [all.filter(isCurrent), all.filter((one) => !isCurrent(one))];
  const number = Math.max(0, ...old.map(({ revision }) => revision)) + 1;
  const [newest, ...duplicates] = current.sort((a, b) => b.revision - a.revision);
  if (newest === undefined) {
    await releaseStrays(runContext);
    return { hash: hashIn(await createRevision(runContext, number)), old, pods };
  }
  const hash = hashIn(newest);
  const relabelled = duplicates.length === 0 ? pods : await relabel(runContext, pods, hash);
  for (const duplicate of duplicates) await deleteRevision(runContext, duplicate);
  if (newest.revision < number) await patchRevision(runContext, newest, { revision: number });
  return { hash, old, pods: relabelled };
}

const hashIn = (revision: Revision): string => hashOf(revision) ?? revision.metadata.name;

const ownershipOptionsOf = ({ client, owner, context: { signal } }: DaemonSetRunContext) => ({
  client,
  owner,
  kind: controllerRevision,
  signal,
});

async function claimRevisions(runContext: DaemonSetRunContext): Promise<readonly Revision[]> {
  const parts = ownershipOptionsOf(runContext);
  return adoptAndRelease(
    parts,
    (await findMatching(parts)).map((one) => revisionSchema.parse(one)),
  );
}

async function releaseStrays(runContext: DaemonSetRunContext): Promise<void> {
  const parts = ownershipOptionsOf(runContext);
  await adoptAndRelease(parts, await findStrayed(parts));
}

/** A revision of before Kubernetes 1.7 has no hash, and its name serves as one. */
async function withHash(runContext: DaemonSetRunContext, revision: Revision): Promise<Revision> {
  if (hashOf(revision) !== undefined) return revision;
  return patchRevision(runContext, revision, {
    metadata: { labels: { [hashLabel]: revision.metadata.name } },
  });
}

/** A patch, because the API server refuses data that are written in another way than they were. */
async function patchRevision(
  { client, context: { signal } }: DaemonSetRunContext,
  revision: Revision,
  { metadata, ...rest }: { readonly metadata?: object; readonly revision?: number },
): Promise<Revision> {
  const { uid, resourceVersion } = revision.metadata;
  const body = { metadata: { ...metadata, uid, resourceVersion }, ...rest };
  const written = await client.patch(
    controllerRevision,
    keyOf(revision),
    { type: "merge", body },
    { signal },
  );
  return revisionSchema.parse(written);
}

export async function deleteRevision(
  { client, context: { signal } }: DaemonSetRunContext,
  revision: Revision,
): Promise<void> {
  await client.delete(controllerRevision, keyOf(revision), { uid: revision.metadata.uid, signal });
}

/** Gives pods this hash: that of the revision which stays, of several for one template. */
async function relabel(
  { client, context: { signal } }: DaemonSetRunContext,
  pods: readonly Pod[],
  hash: string,
): Promise<readonly Pod[]> {
  const labels = { [hashLabel]: hash };
  return Promise.all(
    pods.map(async (pod) => {
      if (hashOf(pod) === hash) return pod;
      const body = { metadata: { uid: pod.metadata.uid, labels } };
      await client.patch(builtin.pod, keyOf(pod), { type: "merge", body }, { signal });
      return { ...pod, metadata: { ...pod.metadata, labels: { ...pod.metadata.labels, ...labels } } };
    }),
  );
}
