// Run by verification/install in a project that has only the published package: an error of `drover` is recognized by its class
// in `drover/testing`, which contains the runtime.
import assert from "node:assert/strict";
import { defineController, defineResource, TerminalError } from "drover";
import { testReconcile } from "drover/testing";
import { z } from "zod";

const Cup = defineResource({
  group: "example.com",
  version: "v1",
  kind: "Cup",
  scope: "Namespaced",
  spec: z.object({}),
  status: z.object({}),
});
const cups = defineController({
  for: Cup,
  reconcile: () => Promise.reject(new TerminalError("The cup is broken.", { reason: "Broken" })),
});
const { outcome } = await testReconcile(() => cups, {
  object: { apiVersion: "example.com/v1", kind: "Cup", metadata: { name: "a" }, spec: {} },
});
assert.equal(outcome.kind, "terminal");
