import {
  type ControllerDefinition,
  customResourceDefinition,
  defineController,
  defineResource,
  objectKey,
  silentLog,
} from "@drover/controller";
import { installCrd, type KubeClient, type KubeObject, refOf } from "@drover/kube";
import type { Run, RunOutcome } from "@drover/queue";
import { z } from "zod";
import { sandboxOfFile } from "../../../testing/src/sandbox.fixture.ts";
import { reconcileOnce, type ReconcileOptions } from "./reconcile-once.ts";

/** A kind for tests. */
export const Widget = defineResource({
  group: "tests.drover.dev",
  version: "v1",
  kind: "Widget",
  scope: "Namespaced",
  spec: z.object({ size: z.number() }),
  status: z.object({}),
});
export const widgets = refOf(Widget);
export const widgetFinalizers = ["drover.dev/widgets.tests.drover.dev"];

/** An API server that serves widgets, for the tests of a file. `writes` has the write requests, as method and path. */
export async function widgetsOfFile() {
  const { sandbox, client } = await sandboxOfFile();
  await installCrd(client, { ...customResourceDefinition(Widget) });
  const writes: string[] = [];
  sandbox.faults.respond(({ method, path }) => {
    if (method !== "GET") writes.push(`${method} ${path}`);
    return undefined;
  });
  const create = (name: string, metadata: object = {}): Promise<KubeObject> =>
    client.create(widgets, { metadata: { name, namespace: "default", ...metadata }, spec: { size: 1 } });
  return { sandbox, client, writes, create };
}

export type WidgetDefinition = Partial<ControllerDefinition<typeof Widget>>;

/** Runs a widget once with a controller of this definition. */
export const reconcileWidget = (
  client: KubeClient,
  definition: WidgetDefinition,
  run: Run,
  announce: ReconcileOptions<typeof Widget>["announce"] = () => undefined,
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
      announce,
    },
    run,
  );

/** The first run of an object in the namespace default, with its lease. */
export const runOf = (name: string, more: Partial<Run> = {}): Run => ({
  key: objectKey({ namespace: "default", name }),
  token: "t",
  claim: { fails: 0, reasons: [], class: "change", versions: {} },
  signal: new AbortController().signal,
  hasLease: () => true,
  ...more,
});
