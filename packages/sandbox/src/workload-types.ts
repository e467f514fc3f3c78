// The kinds of apps/v1 as the API server alone has them: stored and defaulted; nothing here makes a pod.
import { metadataSchema } from "./object-metadata.ts";
import { ageColumn } from "./resource-type.ts";
import type { Column, ResourceType } from "./resource-type.ts";
import { anyObject, atomic, fields, integer } from "./schema-words.ts";
import { statefulSetBehaviour, statefulSetSchema } from "./stateful-sets.ts";
import { deploymentColumns, replicaSetColumns, statefulSetColumns } from "./workload-columns.ts";
import { deploymentBehaviour, deploymentSchema, replicaSetBehaviour, replicaSetSchema } from "./workloads.ts";

const column = (name: string, jsonPath: string, type = "string"): Column => ({ name, type, jsonPath });
const workload = { status: true, generation: true, unconditionalUpdate: true, categories: ["all"] } as const;

/** Rows for the table of built-in kinds. */
export const workloads: readonly (Partial<ResourceType> &
  Pick<ResourceType, "kind" | "resource" | "schema">)[] = [
  {
    ...workload,
    kind: "Deployment",
    resource: "deployments",
    shortNames: ["deploy"],
    schema: deploymentSchema(metadataSchema),
    behaviour: deploymentBehaviour,
    columns: deploymentColumns,
  },
  {
    ...workload,
    kind: "ReplicaSet",
    resource: "replicasets",
    shortNames: ["rs"],
    schema: replicaSetSchema(metadataSchema),
    behaviour: replicaSetBehaviour,
    columns: replicaSetColumns,
    selectable: ["status.replicas"],
  },
  {
    ...workload,
    kind: "StatefulSet",
    resource: "statefulsets",
    shortNames: ["sts"],
    nameRule: "label",
    schema: statefulSetSchema(metadataSchema),
    behaviour: statefulSetBehaviour,
    columns: statefulSetColumns,
  },
  {
    kind: "ControllerRevision",
    resource: "controllerrevisions",
    unconditionalUpdate: true,
    schema: fields({ data: atomic(anyObject), revision: integer }),
    columns: [column("Revision", ".revision", "integer"), ageColumn],
  },
];
