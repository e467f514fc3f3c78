import { z } from "zod";
import { crdOf } from "../../packages/testing/src/crd-of.fixture.ts";

/** The kind that one schedule at a time has for itself: its bridge, recorder and load see no other objects. */
export interface Kind {
  readonly group: string;
  /** `/apis/<group>/v1/widgets`: all of them. */
  readonly path: string;
  pathOf(key: string): string;
  collectionOf(namespace: string): string;
  readonly crd: object;
  /** As the kind stands in a ReconcileFunction. */
  readonly ref: object;
}

export const namespaces = ["default", "chaos"] as const;

export function laneKind(lane: number): Kind {
  const group = `lane-${lane}.chaos.drover.dev`;
  const [kind, plural] = ["Widget", "widgets"];
  const root = `/apis/${group}/v1`;
  const collectionOf = (namespace: string): string => `${root}/namespaces/${namespace}/${plural}`;
  return {
    group,
    path: `${root}/${plural}`,
    collectionOf,
    pathOf(key) {
      const [namespace = "", name = ""] = key.split("/");
      return `${collectionOf(namespace)}/${name}`;
    },
    ref: { group, version: "v1", kind, plural, scope: "Namespaced" },
    crd: crdOf({ group, kind, openAPIV3Schema }),
  };
}

const number = { type: "integer" };
const openAPIV3Schema = {
  type: "object",
  properties: {
    spec: { type: "object", properties: { size: number, ref: { type: "string" } } },
    status: { type: "object", properties: { seen: number } },
  },
};

/**
 * The registration of a controller for a kind, as text of a manifest: JSON is YAML. With `references` an object concerns
 * also those whose `spec.ref` names it.
 */
export const registrationFor = (kind: Kind, controller: string, references: boolean): string =>
  JSON.stringify({
    apiVersion: "drover.dev/v1alpha1",
    kind: "ReconcileFunction",
    metadata: { name: controller },
    spec: {
      for: kind.ref,
      ...(references && { watches: [{ ...kind.ref, names: { referencedBy: "spec.ref" } }] }),
    },
  });

const versionSchema = z.string().regex(/^\d+$/).transform(Number);
const texts = z.record(z.string(), z.string()).optional();

/** An object of it, as far as anybody here looks. */
export const widgetSchema = z.object({
  metadata: z.object({
    name: z.string(),
    namespace: z.string(),
    uid: z.string(),
    resourceVersion: versionSchema,
    generation: z.number(),
    labels: texts,
    annotations: texts,
    finalizers: z.array(z.string()).optional(),
    deletionTimestamp: z.string().optional(),
  }),
  spec: z.object({ ref: z.string().optional() }),
});
export type Widget = z.infer<typeof widgetSchema>;

export const widgetListSchema = z.object({
  metadata: z.object({ resourceVersion: versionSchema }),
  items: z.array(widgetSchema),
});

export const keyOf = ({ metadata: { namespace, name } }: Widget): string => `${namespace}/${name}`;
