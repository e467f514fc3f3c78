import type { ResourceRef } from "@drover/controller";
import { kubeObjectSchema } from "@drover/kube";
import { z } from "zod";

/** `apps/v1` ControllerRevision: an earlier or the current template of a DaemonSet. */
export const controllerRevision: ResourceRef = {
  group: "apps",
  version: "v1",
  plural: "controllerrevisions",
  kind: "ControllerRevision",
  namespaced: true,
};

export const revisionSchema = z.looseObject({
  ...kubeObjectSchema.shape,
  data: z.unknown(),
  revision: z.int().default(0),
});
export type Revision = z.output<typeof revisionSchema>;

/** The label of revisions, and of pods, with the hash of their template. */
export const hashLabel = "controller-revision-hash";

/** The hash of a revision, or of a pod's template; undefined if it has no label for it. */
export const hashOf = ({ metadata }: Pick<Revision, "metadata">): string | undefined =>
  metadata.labels?.[hashLabel];
