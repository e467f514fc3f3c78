import {
  type ControllerDefinition,
  defineController,
  defineResource,
  objectKey,
  silentLog,
} from "@drover/controller";
import { builtin, type KubeClient, type KubeObject, refOf } from "@drover/kube";
import type { Run, RunOutcome } from "@drover/queue";
import { z } from "zod";
import { conditionsOf } from "../schema/parse-object.ts";
import { crdOf } from "../../../testing/src/crd-of.fixture.ts";
import { sandboxOfFile } from "../../../testing/src/sandbox.fixture.ts";
import { reconcileOnce, type ReconcileOptions } from "./reconcile-once.ts";

/** A kind for tests. */
export const Widget = defineResource({
  group: "tests.drover.dev",
  version: "v1",
  kind: "Widget",
  scope: "Namespaced",
  spec: z.object({ size: z.number().int(), colour: z.string().default("grey") }),
  status: z.object({ made: z.number().optional() }),
});
export const widgets = refOf(Widget);
export const widgetFinalizers = ["drover.dev/widgets.tests.drover.dev"];

const anything = { "x-kubernetes-preserve-unknown-fields": true };
const openAPIV3Schema = {
  type: "object",
  properties: { spec: anything, status: { type: "object", ...anything } },
};
/** Accepts any widget, so that a test may create one that the schema in the code refuses. */
const permissive = crdOf({ group: "tests.drover.dev", kind: "Widget", openAPIV3Schema });

/**
 * An API server that serves widgets, for the tests of a file. `writes` has the write requests, as method and path; the
 * path of a widget begins with its name.
 */
export async function widgetsOfFile() {
  const { sandbox, client } = await sandboxOfFile();
  await client.create(builtin.crd, permissive);
  const writes: string[] = [];
  sandbox.faults.respond(({ method, path }) => {
    if (method !== "GET") writes.push(`${method} ${path.replace(/.*widgets\/?/, "")}`);
    return undefined;
  });
  const create = (
    name: string,
    metadata: object = {},
    body: object = { spec: { size: 1 } },
  ): Promise<KubeObject> =>
    client.create(widgets, { metadata: { name, namespace: "default", ...metadata }, ...body });
  return { sandbox, client, writes, create };
}

export type WidgetDefinition = Partial<ControllerDefinition<typeof Widget>>;

/** Runs a widget once with a controller of this definition. */
export const reconcileWidget = (
  client: KubeClient,
  definition: WidgetDefinition,
  run: Run,
  more: Partial<ReconcileOptions<typeof Widget>> = {},
): Promise<RunOutcome> =>
  reconcileOnce(
    {
      controller: defineController({
        for: Widget,
        reconcile: () => Promise.resolve(undefined),
        ...definition,
      }),
      client,
      log: silentLog,
      announce: () => undefined,
      ...more,
    },
    run,
  );

export const readyOf = (object: KubeObject) => conditionsOf(object).find(({ type }) => type === "Ready");

/** The first run of an object in the namespace default, with its lease. */
export const runOf = (name: string, more: Partial<Run> = {}): Run => ({
  key: objectKey({ namespace: "default", name }),
  token: "t",
  claim: { fails: 0, reasons: [], class: "change", versions: {} },
  signal: new AbortController().signal,
  hasLease: () => true,
  ...more,
});
