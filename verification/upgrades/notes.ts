import { defineController, defineResource, reconcileFunctionOf } from "@drover/controller";
import { z } from "zod";

const kindOf = (kind: string) =>
  defineResource({
    group: "upgrades.drover.dev",
    version: "v1",
    kind,
    scope: "Namespaced",
    spec: z.object({}),
    status: z.object({}),
  });

/** Objects of one kind each: for a function that pulls, and for one that the gateway calls. */
export const kinds = { pulled: kindOf("Note"), called: kindOf("Call") } as const;
export type Delivery = keyof typeof kinds;
export const deliveries: readonly Delivery[] = ["pulled", "called"];

/** The annotation whose value counts the changes of an object. */
export const countAnnotation = "upgrades.drover.dev/count";

/** A request that is open for as long as a run of an object lasts. */
export const openRun = z.object({ key: z.string(), count: z.number() });

/** Runs that are requests to a recorder. */
export const notesController = (delivery: Delivery, recorder: string) =>
  defineController({
    for: kinds[delivery],
    // No change is found by a resync.
    resyncEvery: "24h",
    async reconcile({ key, metadata, signal }) {
      const count = Number(metadata.annotations?.[countAnnotation] ?? 0);
      const body = JSON.stringify({ key, count } satisfies z.input<typeof openRun>);
      const { status } = await fetch(`${recorder}/runs/${delivery}`, { method: "POST", body, signal });
      if (status !== 200) throw new Error(`The recorder answers ${status}.`);
      return { status: {} };
    },
  });

export const functionName = (delivery: Delivery): string => notesController(delivery, "").name;

/** The ReconcileFunction of a kind. */
export function notesFunction(delivery: Delivery, image: string, recorder: string) {
  const { group, plural } = kinds[delivery];
  const manifest = reconcileFunctionOf(notesController(delivery, recorder), {
    container: { image, env: [{ name: "DROVER_RECORDER", value: recorder }] },
    scaling: { min: 1, max: 2 },
    permissions: {
      namespace: [
        { apiGroups: [group], resources: [plural], verbs: ["get"] },
        { apiGroups: [group], resources: [`${plural}/status`], verbs: ["update"] },
      ],
      cluster: [{ apiGroups: ["events.k8s.io"], resources: ["events"], verbs: ["create", "patch"] }],
    },
  });
  if (delivery === "pulled") return manifest;
  const { permissions: _, ...spec } = manifest.spec;
  return { ...manifest, spec: { ...spec, delivery: "webhook" } };
}
