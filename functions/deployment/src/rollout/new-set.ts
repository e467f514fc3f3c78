import { builtin, controllerReference } from "@drover/kube";
import { maxNameLength, nameSuffix, type ReplicaSetObject, replicaSetSchema } from "@drover/workloads";
import { hashLabel } from "../annotations.ts";
import { boundsOf, type DeploymentObject } from "../deployment.ts";
import { type Draft, type DraftSet, draftSet, recordSizes, announceScaling, totalOf } from "../draft.ts";
import { inheritAnnotations, nextRevision, recordSetCreated } from "../revision/revision.ts";
import { withoutEmptyParts } from "../template.ts";

/** Adds a set for the Deployment's template to the draft, with as many replicas as the strategy allows at first. */
export function makeNewSet(draft: Draft): DraftSet {
  const set = emptySet(draft.deployment, draft.status.collisionCount);
  const made: DraftSet = { ...draftSet(set), isNew: true, isCurrent: true };
  const revision = nextRevision(draft);
  draft.sets.push(made);
  made.replicas = roomForNew(draft, made);
  recordSizes(draft, made);
  inheritAnnotations(draft, made, revision);
  if (made.replicas > 0) announceScaling(draft, made, 0);
  recordSetCreated(draft, made.set.metadata.name);
  return made;
}

/** The number of replicas that the new set may have now. */
export function roomForNew({ deployment, sets }: Draft, newest: DraftSet): number {
  const { replicas, strategy } = deployment.spec;
  if (strategy.type === "Recreate") return replicas;
  const room = replicas + boundsOf(deployment).maxSurge - totalOf(sets);
  return room <= 0 ? newest.replicas : newest.replicas + Math.min(room, replicas - newest.replicas);
}

const hashLength = 10;

/** The set's name is derived from the template, so that a second attempt creates the same set. */
function emptySet({ metadata, spec }: DeploymentObject, collisions = 0): ReplicaSetObject {
  const hash = nameSuffix([withoutEmptyParts(spec.template), collisions], hashLength);
  const { template, selector, minReadySeconds } = spec;
  const labels = { ...template.metadata.labels, [hashLabel]: hash };
  return replicaSetSchema.parse({
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    metadata: {
      name: `${metadata.name.slice(0, maxNameLength - hashLength - 1)}-${hash}`,
      namespace: metadata.namespace,
      // Placeholders, which are removed when it is created.
      uid: "new",
      resourceVersion: "new",
      labels,
      ownerReferences: [controllerReference({ ref: builtin.deployment, metadata })],
    },
    spec: {
      replicas: 0,
      minReadySeconds,
      selector: { ...selector, matchLabels: { ...selector.matchLabels, [hashLabel]: hash } },
      template: { ...template, metadata: { ...template.metadata, labels } },
    },
  });
}
