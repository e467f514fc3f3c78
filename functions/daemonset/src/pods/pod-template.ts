import type { PodTemplate } from "@drover/workloads";
import type { DaemonSetObject } from "../daemon-set.ts";
import type { PlannedPod } from "../daemon-set-run.ts";
import { pinnedTo } from "../nodes/node-affinity.ts";
import { withAutomatic } from "../nodes/tolerations.ts";
import { hashLabel } from "../revision/controller-revision.ts";
import { generationLabel, templateGeneration } from "./daemon-pod.ts";
import { failuresAnnotation } from "./failed-pods.ts";

/** The template of a pod for a node. The scheduler binds it to that node, since its affinity names no other. */
export function templateFor(
  daemonSet: DaemonSetObject,
  hash: string,
  { node, failures }: PlannedPod,
): PodTemplate {
  const { metadata, spec } = daemonSet.spec.template;
  const generation = templateGeneration(daemonSet);
  const annotations = failures !== undefined && {
    annotations: { ...metadata.annotations, [failuresAnnotation]: String(failures) },
  };
  return {
    metadata: {
      ...metadata,
      ...annotations,
      labels: {
        ...metadata.labels,
        ...(generation !== undefined && { [generationLabel]: generation }),
        [hashLabel]: hash,
      },
    },
    spec: {
      ...spec,
      affinity: pinnedTo(spec.affinity, node),
      tolerations: withAutomatic(spec.tolerations, spec),
    },
  };
}
