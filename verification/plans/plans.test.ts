import { startSandbox } from "@drover/sandbox";
import { expect, onTestFinished, test } from "vitest";
import { runPlans } from "./suite.ts";

// Enough to see that it works; `npm run plans` runs more, on a real API server.
test("a plan is what the run then does", { timeout: 120_000 }, async () => {
  const sandbox = await startSandbox();
  onTestFinished(() => sandbox.close());
  const cluster = { server: sandbox.url, token: sandbox.token };
  const { problems, actions } = await runPlans({ cluster, changes: 100, seed: 1, log: () => undefined });
  expect(problems).toEqual([]);
  const planned = [...actions.keys()].filter((action) => action !== "the object's own status");
  expect(planned.sort()).toMatchInlineSnapshot(`
    [
      "adopt",
      "change",
      "create",
      "delete",
      "keep",
      "nothing",
      "recreate",
      "refused",
      "waits",
    ]
  `);
});
