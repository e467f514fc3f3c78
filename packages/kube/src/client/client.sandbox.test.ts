import { objectKey } from "@drover/controller";
import { beforeEach, expect, test } from "vitest";
import { applyContract } from "./apply.contract.ts";
import { clientContract, namedBucket } from "./client.contract.ts";
import { installCrd } from "./install-crd.ts";
import { builtin } from "../objects/resource-ref.ts";
import { bucketRef } from "../testing/objects.ts";
import { bucketDefinition, sandboxClient, type SandboxClient } from "../testing/sandbox-client.ts";

let api: SandboxClient;
beforeEach(async () => {
  api = await sandboxClient();
  await installCrd(api.client, bucketDefinition);
});

clientContract(() => api.client);
applyContract(() => api.client);

test("a list with an expired token is refused", async () => {
  for (const name of ["a", "b"]) await api.client.create(bucketRef, namedBucket(name));
  const first = await api.client.list(bucketRef, { limit: 1 });
  await api.client.create(bucketRef, namedBucket("c"));
  api.sandbox.faults.compact();
  const next = api.client.list(bucketRef, { limit: 1, continue: first.continue });
  await expect(next).rejects.toMatchObject({ kind: "Expired" });
});

test("a watch from an expired version is refused", async () => {
  const { client, sandbox } = api;
  await client.create(bucketRef, namedBucket("a"));
  sandbox.faults.compact();
  const firstFrame = async (): Promise<unknown> => {
    for await (const [frame] of client.watch(bucketRef, { resourceVersion: "1" })) {
      return frame?.type === "ERROR" ? frame.error : frame;
    }
    return "nothing";
  };
  // A server refuses with its answer, or in the first frame.
  const outcome = await firstFrame().catch((error: unknown) => error);
  expect(outcome).toMatchObject({ kind: "Expired" });
});

test("a definition that is installed again is replaced", async () => {
  const installed = await installCrd(api.client, {
    ...bucketDefinition,
    metadata: { ...bucketDefinition.metadata, labels: { a: "b" } },
  });
  expect(installed).toEqual(bucketRef);
  const crd = await api.client.get(builtin.crd, objectKey({ name: "buckets.s3.example.com" }));
  expect(crd?.metadata.labels).toEqual({ a: "b" });
});
