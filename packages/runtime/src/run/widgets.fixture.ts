import { customResourceDefinition, defineResource, objectKey } from "@drover/controller";
import { connect, installCrd, type KubeClient, refOf } from "@drover/kube";
import type { Run } from "@drover/queue";
import { startSandbox } from "@drover/sandbox";
import { z } from "zod";

/** A kind that serves tests, without more than a run needs. */
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

/** A sandbox that serves widgets. */
export interface WidgetSandbox {
  readonly client: KubeClient;
  /** Requests that were made and would change something, as method and path. */
  readonly writes: string[];
  close(): Promise<void>;
}

export async function openWidgets(): Promise<WidgetSandbox> {
  const sandbox = await startSandbox({});
  const client = await connect({ server: sandbox.url, token: sandbox.token });
  await installCrd(client, { ...customResourceDefinition(Widget) });
  const writes: string[] = [];
  sandbox.faults.respond(({ method, path }) => {
    if (method !== "GET") writes.push(`${method} ${path}`);
    return undefined;
  });
  return {
    client,
    writes,
    async close() {
      await client.close();
      await sandbox.close();
    },
  };
}

/** The first run of a widget, which holds its lease; `more` says what is otherwise. */
export const runOf = (name: string, more: Partial<Run> = {}): Run => ({
  key: objectKey({ namespace: "default", name }),
  token: "t",
  claim: { fails: 0, reasons: [], class: "change", versions: {} },
  signal: new AbortController().signal,
  hasLease: () => true,
  ...more,
});
