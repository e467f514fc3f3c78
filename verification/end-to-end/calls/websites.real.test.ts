import { type CreateOptions, objectKey } from "@drover/controller";
import { builtin, type KubeObject, refOf, resourceNameOf, type ResourceRef } from "@drover/kube";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { Website } from "../../../examples/typescript/website.ts";
import { secret } from "../../harness/manifests.ts";
import { deployedWorldOfFile } from "../stage/deployed-world.ts";
import { pythonFunction } from "../stage/python-function.ts";
import { eventually } from "../stage/world.ts";

const example = (path: string): string => new URL(`../../../examples/${path}`, import.meta.url).pathname;
const world = await deployedWorldOfFile([Website], {
  python: pythonFunction("website/function.py"),
  typescript: { command: [process.execPath, example("typescript/serve-website.ts")] },
});
await world.startGateway({ awaited: "Serving /healthz", machine: "node" });
const { client, cluster } = world;

const publisher = z
  .looseObject({ metadata: z.object({ name: z.string() }), spec: z.looseObject({ for: z.looseObject({}) }) })
  .parse(parse(readFileSync(example("website/deploy/function.yaml"), "utf8")));
const conditionsSchema = z.looseObject({
  conditions: z.array(
    z.looseObject({ type: z.string(), status: z.string(), reason: z.string(), message: z.string() }),
  ),
});
const resourceQuota = {
  group: "",
  version: "v1",
  plural: "resourcequotas",
  kind: "ResourceQuota",
  namespaced: true,
};
const kinds = { configMap: builtin.configMap, deployment: builtin.deployment, service: builtin.service };

/**
 * Websites of the examples, on a real API server: the gateway makes the children as the function's ServiceAccount, with
 * the Roles that the deployer writes. There are no controllers for Deployments: the tests write their status.
 */
describe.each(["typescript", "python"])("websites of a function in %s", { timeout: 240_000 }, (language) => {
  const keyOf = (name: string) => objectKey({ namespace: language, name });
  const read = async (ref: ResourceRef, name: string): Promise<KubeObject> =>
    (await client.get(ref, keyOf(name))) ?? expect.fail(`There is no ${ref.kind} ${name}.`);
  const create = (name: string, spec: object = {}) =>
    client.create(refOf(Website), {
      metadata: { name, namespace: language },
      spec: { html: "Hi", image: "web:1", ...spec },
    });
  const change = (ref: ResourceRef, name: string, body: object) =>
    client
      .guarded({ beforeWrite: () => undefined, fieldManager: "somebody" })
      .patch(ref, keyOf(name), { type: "merge", body });
  const conditionIs = (name: string, type: string, condition: object) =>
    eventually(async () => {
      const { conditions } = conditionsSchema.parse((await read(refOf(Website), name))["status"]);
      expect(conditions.find((one) => one.type === type)).toMatchObject(condition);
    });
  /** An object like the child of the website `a`, made by another client. */
  const copyOf = async (ref: ResourceRef, name: string, options: CreateOptions, metadata: object = {}) => {
    const { spec, data } = (await read(ref, "a")) as { spec?: object; data?: object };
    const content = ref.kind === "Service" ? { spec: { ports: [{ port: 1 }] } } : { spec, data };
    return client.create(ref, { ...content, metadata: { name, namespace: language, ...metadata } }, options);
  };
  const whenMade = (name: string) =>
    conditionIs(name, "Ready", {
      reason: "ChildrenNotReady",
      message: `Deployment ${name}: 0 of 1 replicas are updated.`,
    });

  it("are deployed, and wait for their Secret", async () => {
    await client.create(builtin.namespace, { metadata: { name: language } });
    const { for: kind, ...spec } = publisher.spec;
    const only = { for: { ...kind, namespaces: [language] }, container: { image: language } };
    const metadata = { name: language, namespace: "default" };
    await cluster.apply({
      apiVersion: "drover.dev/v1alpha1",
      kind: "ReconcileFunction",
      metadata,
      spec: { ...spec, ...only },
    });
    await create("a", { secretName: "words" });
    await conditionIs("a", "Ready", {
      status: "False",
      reason: "NoSecret",
      message: expect.stringContaining("Create the Secret words.") as string,
    });
    await cluster.apply(secret("words", { WORD: "hush" }, language));
    await whenMade("a");
    const { resourceVersion } = (await read(builtin.secret, "words")).metadata;
    expect(JSON.stringify(await read(builtin.deployment, "a"))).toContain(
      `"example.com/secret-version":"${resourceVersion}"`,
    );
    const {
      metadata: { generation },
    } = await read(builtin.deployment, "a");
    const counts = { replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1 };
    await client.patch(
      builtin.deployment,
      keyOf("a"),
      { type: "merge", body: { status: { ...counts, observedGeneration: generation } } },
      { subresource: "status" },
    );
    await conditionIs("a", "Ready", { status: "True", message: "All 3 children are ready." });
    expect((await read(refOf(Website), "a"))["status"]).toMatchObject({
      address: `http://a.${language}.svc`,
      readyReplicas: 1,
    });
  });

  it.each(Object.entries(kinds))(
    "have their %s made again, and set back, with the other manager in a condition",
    async (_, ref) => {
      const before = await read(ref, "a");
      await client.delete(ref, keyOf("a"));
      await eventually(async () => expect((await read(ref, "a")).metadata.uid).not.toBe(before.metadata.uid));
      const bodies: Readonly<Record<string, object>> = {
        ConfigMap: { data: { "index.html": "theirs" } },
        Deployment: { spec: { replicas: 7 } },
        Service: { spec: { selector: { "app.kubernetes.io/instance": "theirs" } } },
      };
      const body = bodies[ref.kind] ?? expect.fail(ref.kind);
      await change(ref, "a", body);
      await conditionIs("a", "Contested", {
        status: "True",
        reason: "ChildCorrected",
        message: expect.stringMatching(new RegExp(`${ref.kind} a: .* by "somebody"`)) as string,
      });
      const { data, spec } = (await read(ref, "a")) as { data?: unknown; spec?: unknown };
      expect(JSON.stringify([data, spec])).not.toMatch(/theirs|"replicas":7/);
    },
  );

  it.each(Object.entries(kinds))("leave a %s of another controller alone", async (_, ref) => {
    const name = `taken-${ref.kind.toLowerCase()}`;
    const { uid } = (await read(builtin.secret, "words")).metadata;
    const owner = { apiVersion: "v1", kind: "Secret", name: "words", uid, controller: true };
    const theirs = await copyOf(ref, name, {}, { ownerReferences: [owner] });
    await create(name);
    await conditionIs(name, "Ready", {
      status: "False",
      reason: "ChildNameTaken",
      message: expect.stringContaining(
        `${ref.kind} ${name}: an object of this name exists already, and belongs to Secret words.`,
      ) as string,
    });
    expect((await read(ref, name)).metadata.resourceVersion).toBe(theirs.metadata.resourceVersion);
    await client.delete(ref, keyOf(name));
    await eventually(async () =>
      expect((await read(ref, name)).metadata.ownerReferences).toMatchObject([{ kind: "Website" }]),
    );
  });

  it("report a child that others have made immutable, and go on when it is deleted", async () => {
    await create("fixed");
    await whenMade("fixed");
    await change(builtin.configMap, "fixed", { immutable: true });
    await change(refOf(Website), "fixed", { spec: { html: "Ho" } });
    await conditionIs("fixed", "Ready", {
      status: "False",
      reason: "ChildImmutable",
      message: expect.stringContaining("ConfigMap fixed: ") as string,
    });
    await conditionIs("fixed", "Stalled", { status: "True" });
    await client.delete(builtin.configMap, keyOf("fixed"));
    await eventually(async () =>
      expect((await read(builtin.configMap, "fixed"))["data"]).toEqual({ "index.html": "Ho" }),
    );
    await whenMade("fixed");
  });

  it.each(Object.entries(kinds))(
    "report a quota of %ss that is used up, and go on when it is raised",
    async (_, ref) => {
      const name = `over-${ref.kind.toLowerCase()}`;
      const hard = { [`count/${resourceNameOf(ref)}`]: "0" };
      await client.create(resourceQuota, { metadata: { name, namespace: language }, spec: { hard } });
      // The quota controller would write this.
      const body = { status: { hard, used: hard } };
      await client.patch(resourceQuota, keyOf(name), { type: "merge", body }, { subresource: "status" });
      // The API server reads quotas from a cache: it refuses a probe when it has read this one.
      await eventually(() =>
        expect(copyOf(ref, "probe", { dryRun: true })).rejects.toThrow("exceeded quota"),
      );
      await create(name);
      const message = expect.stringMatching(`${ref.kind} ${name}: .*exceeded quota: ${name}`) as string;
      await conditionIs(name, "Ready", { status: "False", reason: "ChildOverQuota", message });
      await client.delete(resourceQuota, keyOf(name));
      await whenMade(name);
    },
  );

  it("own their children, so that the garbage collector deletes these with them", async () => {
    const { uid } = (await read(refOf(Website), "a")).metadata;
    for (const ref of Object.values(kinds))
      expect((await read(ref, "a")).metadata.ownerReferences).toMatchObject([{ uid, controller: true }]);
  });
});
