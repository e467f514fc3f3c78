import {
  defineController,
  defineFunction,
  objectKey,
  type OwnedKind,
  type PermissionRule,
} from "@drover/controller";
import { builtin, isApiError, kindOf, type KubeClient, listAll } from "@drover/kube";
import { expect, it } from "vitest";
import { testFaults } from "./faults/test-faults.ts";
import { MissingPermissionError } from "./rights.ts";
import { Site, site } from "./site.fixture.ts";
import { testCluster } from "./test-cluster.ts";
import { testReconcile } from "./test-reconcile.ts";

type Deed = (client: KubeClient, name: string) => Promise<unknown>;
const sites =
  (deed: Deed, owns: readonly OwnedKind[] = []) =>
  ({ client }: { readonly client: KubeClient }) =>
    defineController({
      for: Site,
      owns,
      async reconcile({ metadata }) {
        await deed(client, metadata.name);
        return {};
      },
    });
const lists: Deed = (client) => listAll(client, builtin.pod, { namespace: "default" });
const rule = (resources: string[], verbs: string[]): PermissionRule => ({
  apiGroups: [""],
  resources,
  verbs,
});
const deployedWith = (deed: Deed, ...cluster: PermissionRule[]) =>
  defineFunction({
    controller: sites(deed)({ client: {} as KubeClient }),
    deployment: { container: { image: "sites:1" }, permissions: { cluster } },
  });
const openAndRunUntilIdle = async (...open: Parameters<typeof testCluster>): Promise<void> => {
  await using cluster = await testCluster(...open);
  await cluster.apply(site("a", "Hi"));
  await cluster.runUntilIdle();
};

it("answers as the API server does, and names the permission to add, and the place", async () => {
  let answer: unknown;
  const start = sites(async (client) => {
    await lists(client, "").catch((error: unknown) => {
      answer = error;
      throw error;
    });
  });
  const ended = openAndRunUntilIdle(start);
  await expect(ended).rejects.toThrow(MissingPermissionError);
  await expect(ended).rejects.toThrow(
    "sites.example.com may not list pods in namespace default: in a cluster the API server answers 403. " +
      'Add {"apiGroups":[""],"resources":["pods"],"verbs":["list"]} to deployment.permissions.cluster of its ' +
      "defineFunction (src/function.ts), or name the kind in `owns` where the controller makes its objects. " +
      "Then give the test what that module exports: deployedAs.",
  );
  expect(isApiError(answer, "Forbidden") && answer.serverMessage).toBe(
    'pods is forbidden: User "system:serviceaccount:default:sites.example.com" cannot list resource "pods" in API group ' +
      '"" in the namespace "default"',
  );
});

it("reports a refused call although the function ignores the error", async () => {
  const swallowing: Deed = (client) => lists(client, "").catch(() => []);
  await expect(openAndRunUntilIdle(sites(swallowing))).rejects.toThrow("may not list pods");
  await expect(testReconcile(sites(swallowing), { object: site("a", "Hi") })).rejects.toThrow(
    "may not list pods",
  );
});

it("reports a refused call in `advance`, too", async () => {
  await using cluster = await testCluster(sites(lists));
  await cluster.apply(site("a", "Hi"));
  await expect(cluster.advance("1s")).rejects.toThrow("may not list pods");
});

it("allows what the definition grants, and no more", async () => {
  const granted = deployedWith(lists, rule(["pods"], ["list"]));
  await openAndRunUntilIdle(sites(lists), { deployedAs: granted });
  await testReconcile(sites(lists), { object: site("a", "Hi"), deployedAs: granted });
  const deletes: Deed = (client) =>
    client.delete(builtin.pod, objectKey({ namespace: "default", name: "x" }));
  const ended = openAndRunUntilIdle(sites(deletes), { deployedAs: granted });
  await expect(ended).rejects.toThrow(
    /may not delete pods in namespace default.*Then run: npx drover generate/,
  );
});

it("allows all verbs on owned objects, but not on their status", async () => {
  const key = (name: string) => objectKey({ namespace: "default", name });
  const uses: Deed = async (client, name) => {
    if ((await listAll(client, builtin.pod, { namespace: "default" })).length > 0) return;
    const pod = {
      metadata: { name, namespace: "default" },
      spec: { containers: [{ name: "a", image: "a:1" }] },
    };
    await client.create(builtin.pod, pod);
    await client.patch(builtin.pod, key(name), { type: "merge", body: { metadata: { labels: { a: "1" } } } });
    await client.delete(builtin.pod, key(name), { gracePeriodSeconds: 0 });
  };
  await openAndRunUntilIdle(sites(uses, [{ kind: kindOf(builtin.pod) }]));
  const status: Deed = (client, name) =>
    client.patch(builtin.pod, key(name), { type: "merge", body: {} }, { subresource: "status" });
  const owning = sites(status, [{ kind: kindOf(builtin.pod) }]);
  await expect(openAndRunUntilIdle(owning)).rejects.toThrow(
    /may not patch pods\/status in namespace default: .*src\/function.ts\)\./,
  );
});

it("names the Secret of a refused read", async () => {
  const reading = () =>
    defineController({
      for: Site,
      async reconcile({ readSecret }) {
        await readSecret("words");
        return {};
      },
    });
  await expect(openAndRunUntilIdle(reading)).rejects.toThrow('or "words" to its readsSecrets');
  await openAndRunUntilIdle(reading, {
    deployedAs: defineFunction({ controller: reading(), readsSecrets: ["words"] }),
  });
  const another = defineFunction({ controller: reading(), readsSecrets: ["another"] });
  await expect(openAndRunUntilIdle(reading, { deployedAs: another })).rejects.toThrow("may not get secrets");
});

it("applies namespaced permissions only in the namespace of the definition", async () => {
  const there: Deed = (client) => listAll(client, builtin.pod, { namespace: "other" });
  const home = (deed: Deed) => ({
    ...deployedWith(deed),
    namespace: "default",
    deployment: { permissions: { namespace: [rule(["pods"], ["list"])] } },
  });
  await openAndRunUntilIdle(sites(lists), { deployedAs: home(lists) });
  await expect(openAndRunUntilIdle(sites(there), { deployedAs: home(there) })).rejects.toThrow(
    "in namespace other",
  );
});

it("checks calls before the first run, too", async () => {
  await expect(
    openAndRunUntilIdle(async (world) => {
      await listAll(world.client, builtin.node, {});
      return sites(() => Promise.resolve())(world);
    }),
  ).rejects.toThrow("may not list nodes in all namespaces");
});

it("checks each controller by its own definition, and refuses one of an unknown controller", async () => {
  const second = (deed: Deed) => ({ ...sites(deed)({ client: {} as KubeClient }), name: "second" });
  const idle: Deed = () => Promise.resolve();
  const start = ({ client }: { readonly client: KubeClient }) => ({
    controllers: [sites(idle)({ client }), { ...sites(lists)({ client }), name: "second" }],
  });
  const others = deployedWith(lists, rule(["pods"], ["list"]));
  await expect(openAndRunUntilIdle(start, { deployedAs: others })).rejects.toThrow(
    "second may not list pods",
  );
  const right = { ...others, controller: second(lists) };
  await openAndRunUntilIdle(start, { deployedAs: [right] });
  await expect(openAndRunUntilIdle(sites(idle), { deployedAs: right })).rejects.toThrow(
    "deployedAs is the definition of second, and the test runs sites.example.com.",
  );
});

it("reports permissions that are missing without faults, and those that only a fault needs", async () => {
  const steps = [{ apply: site("a", "Hi") }];
  const { problems } = await testFaults({ name: "a site", start: sites(lists), steps });
  expect(problems).toContainEqual(expect.stringContaining("Add {"));
  const name = "page-of-a";
  const page: Deed = async (client) => {
    try {
      await client.create(builtin.configMap, { metadata: { name, namespace: "default" } });
    } catch (error) {
      if (!isApiError(error, "AlreadyExists")) throw error;
      await client.get(builtin.configMap, objectKey({ namespace: "default", name }));
    }
  };
  const scenario = { name: "a site", start: sites(page), steps };
  const deployedAs = deployedWith(page, rule(["configmaps"], ["create"]));
  const { plans, problems: none } = await testFaults({ ...scenario, deployedAs }, { kinds: ["crash"] });
  expect(none).toEqual([]);
  const found = plans.filter(({ outcome }) => outcome === "differs");
  expect(found.map(({ description }) => description)).toContain(
    "crash after write 1 (create configmaps default/page-of-a)",
  );
  expect(found.flatMap(({ differences }) => differences)).toContainEqual(
    expect.stringContaining("may not get configmaps in namespace default"),
  );
  const more = deployedWith(page, rule(["configmaps"], ["create", "get"]));
  const mended = await testFaults({ ...scenario, deployedAs: more }, { kinds: ["crash"] });
  expect(mended.plans.filter(({ outcome }) => outcome !== "same")).toEqual([]);
});
