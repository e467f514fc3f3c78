import { customResourceDefinition, objectKey, ReconcileFunction, silentLog } from "@drover/controller";
import { installCrd, refOf } from "@drover/kube";
import { AuthorEpoch } from "@drover/runtime";
import { expect, it, onTestFinished } from "vitest";
import { sandboxOfFile } from "../../../../packages/testing/src/sandbox.fixture.ts";
import { deployerRegistration, registerDeployer } from "./register-deployer.ts";

const { client } = await sandboxOfFile({ namespaces: ["drover"] });
const ref = refOf(ReconcileFunction);
const key = objectKey({ namespace: "drover", name: deployerRegistration().metadata.name });
const options = (info: (fields: object) => void = () => undefined) => {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  return { client, namespace: "drover", every: 1, log: { ...silentLog, info }, signal: stop.signal };
};

it("is refused at first, says why once, and is registered once by several deployers", async () => {
  const logged: object[] = [];
  const refused = Promise.withResolvers<undefined>();
  const first = options((fields) => {
    logged.push(fields);
    refused.resolve(undefined);
  });
  const all = Promise.all([
    registerDeployer(first),
    registerDeployer(options()),
    registerDeployer(options()),
  ]);
  await refused.promise;
  for (const kind of [AuthorEpoch, ReconcileFunction])
    await installCrd(client, { ...customResourceDefinition(kind) });
  await all;
  expect(logged).toEqual([{ problem: expect.stringMatching(/404|reconcilefunctions/) as string }]);
  const object = await client.get(ref, key);
  expect(object?.["spec"]).toMatchObject(deployerRegistration().spec);
  expect(object?.metadata.generation).toBe(1);
});

it("an older registration gets what this version needs, and keeps what a user has added", async () => {
  const owns = [{ group: "", version: "v1", kind: "Pod", plural: "pods", scope: "Namespaced" }];
  await client.patch(ref, key, { type: "merge", body: { spec: { owns, resyncEvery: "7h" } } });
  await registerDeployer(options());
  const object = await client.get(ref, key);
  expect(object?.["spec"]).toMatchObject({ ...deployerRegistration().spec, resyncEvery: "7h" });
  const version = object?.metadata.resourceVersion;
  await registerDeployer(options());
  expect((await client.get(ref, key))?.metadata.resourceVersion).toBe(version);
});
