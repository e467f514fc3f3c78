import { defineController, silentLog } from "@drover/controller";
import { afterAll, beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { reconcileOnce } from "./reconcile-once.ts";
import { openWidgets, runOf, Widget, type WidgetSandbox, widgets } from "./widgets.fixture.ts";

let sandbox: WidgetSandbox;
beforeAll(async () => (sandbox = await openWidgets()));
afterAll(() => sandbox.close());

const stated = z.object({
  status: z.object({ conditions: z.array(z.object({ type: z.string(), status: z.string() })) }),
});

// The queue parks a key with its third failure in a row; kstatus reads these conditions.
it.each([0, 1, 2, 3, 9])("after %i failures of three, what comes of the next one is said", async (fails) => {
  const { client } = sandbox;
  const name = `w${fails}`;
  await client.create(widgets, { metadata: { namespace: "default", name }, spec: { size: 3 } });
  const controller = defineController({
    for: Widget,
    retry: { attempts: 3 },
    reconcile: () => Promise.reject(new Error("no")),
  });
  const run = runOf(name, { claim: { fails, reasons: [], class: "change", versions: {} } });
  const parts = { controller, client, log: silentLog, announce: () => undefined };
  const { kind } = await reconcileOnce(parts, run);
  expect(kind).toBe("retry");
  const { conditions } = stated.parse(await client.get(widgets, run.key)).status;
  expect(conditions.filter(({ status }) => status === "True").map(({ type }) => type)).toEqual([
    fails >= 2 ? "Stalled" : "Reconciling",
  ]);
});
