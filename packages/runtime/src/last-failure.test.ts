import {
  customResourceDefinition,
  defineController,
  defineResource,
  objectKey,
  silentLog,
} from "@drover/controller";
import { connect, installCrd, type KubeClient, refOf } from "@drover/kube";
import { type Sandbox, startSandbox } from "@drover/sandbox";
import { afterAll, beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { reconcileOnce } from "./reconcile-once.ts";

const Widget = defineResource({
  ...{ group: "tests.drover.dev", version: "v1", kind: "Widget", scope: "Namespaced" },
  ...{ spec: z.object({ size: z.number() }), status: z.object({}) },
});
const ref = refOf(Widget);
let sandbox: Sandbox;
let client: KubeClient;
beforeAll(async () => {
  sandbox = await startSandbox({});
  client = await connect({ server: sandbox.url, token: sandbox.token });
  await installCrd(client, { ...customResourceDefinition(Widget) });
});
afterAll(async () => {
  await client.close();
  await sandbox.close();
});

const stated = z.object({
  status: z.object({ conditions: z.array(z.object({ type: z.string(), status: z.string() })) }),
});

// The queue parks a key with its third failure in a row; kstatus reads these conditions.
it.each([0, 1, 2, 3, 9])("after %i failures of three, what comes of the next one is said", async (fails) => {
  const [namespace, name] = ["default", `w${fails}`];
  await client.create(ref, { metadata: { namespace, name }, spec: { size: 3 } });
  const controller = defineController({
    for: Widget,
    retry: { attempts: 3 },
    reconcile: () => Promise.reject(new Error("no")),
  });
  const key = objectKey({ namespace, name });
  const { kind } = await reconcileOnce(
    { controller, client, log: silentLog, announce: () => undefined },
    {
      ...{ key, token: "t", claim: { fails, reasons: [], class: "change", versions: {} } },
      ...{ signal: new AbortController().signal, held: () => true },
    },
  );
  expect(kind).toBe("retry");
  const { conditions } = stated.parse(await client.get(ref, key)).status;
  expect(conditions.filter(({ status }) => status === "True").map(({ type }) => type)).toEqual([
    fails >= 2 ? "Stalled" : "Reconciling",
  ]);
});
