import { expect, it } from "vitest";
import { configMapKind, site, siteController } from "./site.fixture.ts";
import { testReconcile } from "./test-reconcile.ts";

it("returns the changes of a reconcile, the same every time", async () => {
  const reconciled = () => testReconcile(({ client }) => siteController(client), { object: site("a", "Hi") });
  const { outcome, changes, object } = await reconciled();
  expect(outcome).toMatchObject({ kind: "done" });
  expect(object).toMatchObject({ status: { page: "a" } });
  expect(changes).toMatchInlineSnapshot(`
    "+ configmaps default/a
        data.html: <h1>Hi</h1>
        metadata.ownerReferences[0].apiVersion: example.com/v1
        metadata.ownerReferences[0].kind: Site
        metadata.ownerReferences[0].name: a
        metadata.ownerReferences[0].uid: sites.example.com default/a
        metadata.ownerReferences[0].controller: true
    ~ sites.example.com default/a
        status.observedGeneration: behind -> current
        status.page: (none) -> a
        status.conditions[0].type: (none) -> Ready
        status.conditions[0].status: (none) -> True
        status.conditions[0].reason: (none) -> Reconciled
        status.conditions[0].message: (none) -> The spec is reconciled.
        status.conditions[0].observedGeneration: (none) -> current
        status.conditions[0].lastTransitionTime: (none) -> a time"
  `);
  expect((await reconciled()).changes).toBe(changes);
});

it("reconciles in the given cluster state", async () => {
  const mine = { ...configMapKind, metadata: { name: "a" }, data: { html: "mine" } };
  const { outcome, changes, announcements } = await testReconcile(({ client }) => siteController(client), {
    object: { ...site("a", "Hi"), status: { page: "before" } },
    others: [mine],
  });
  expect(outcome).toMatchObject({
    kind: "retry",
    error: "The ConfigMap default/a belongs to another controller.",
  });
  expect(announcements).toMatchObject([{ type: "Warning", reason: "Failed" }]);
  expect(changes).toMatchInlineSnapshot(`
    "~ sites.example.com default/a
        status.observedGeneration: behind -> current
        status.conditions[0].type: (none) -> Ready
        status.conditions[0].status: (none) -> False
        status.conditions[0].reason: (none) -> Failed
        status.conditions[0].message: (none) -> The ConfigMap default/a belongs to another controller.
        status.conditions[0].observedGeneration: (none) -> current
        status.conditions[0].lastTransitionTime: (none) -> a time
        status.conditions[1].type: (none) -> Reconciling
        status.conditions[1].status: (none) -> True
        status.conditions[1].reason: (none) -> Failed
        status.conditions[1].message: (none) -> The ConfigMap default/a belongs to another controller.
        status.conditions[1].observedGeneration: (none) -> current
        status.conditions[1].lastTransitionTime: (none) -> a time"
  `);
});

it("refuses an object that no controller is for", async () => {
  const world = { object: { ...configMapKind, metadata: { name: "a" } } };
  await expect(testReconcile(({ client }) => siteController(client), world)).rejects.toThrow(
    /is for ConfigMap/,
  );
});
