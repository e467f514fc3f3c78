import { type Child, type SettledChild, objectKey } from "@drover/controller";
import { builtin, controllerReference, refOf } from "@drover/kube";
import type { TestCluster } from "@drover/testing";
import { describe, expect, test } from "vitest";
import {
  bad,
  composedClusters,
  conditionOf,
  configMap,
  deployment,
  get,
  imageOf,
  key,
  makeReady,
  outcomes,
  type Servers,
} from "./clusters.contract.ts";
import { controllerOfWebsites, kinds, Website, website, websiteKind } from "../website.fixture.ts";

/** The promises of a composed controller while other clients write, and while one child waits for another. */
export function othersContract(servers: () => Servers): void {
  const { open, declaring } = composedClusters(servers);
  const patch = (body: object) => ({ type: "merge", body }) as const;

  describe("others who write after a run has read", () => {
    const kept: Child = { object: configMap({ a: "1" }), deletion: "Orphan" };

    test("have their change seen before a child is deleted", async () => {
      const { cluster, client, declare, meanwhile } = await declaring([configMap({ a: "1" })]);
      meanwhile(() => client.patch(builtin.configMap, key, patch({ data: { theirs: "t" } })));
      await declare([]);
      expect(outcomes(cluster)).toContain("conflict");
      expect(await get(cluster, "configMap")).toBeUndefined();
    });

    test("keep one child from being deleted for a moment, but not the others", async () => {
      const { cluster, client, declare, meanwhile } = await declaring([
        configMap({ a: "1" }),
        configMap({}, "b"),
      ]);
      meanwhile(() => client.patch(builtin.configMap, key, patch({ data: { theirs: "t" } })));
      await declare([]);
      const conflict = cluster.runs.find(({ outcome }) => outcome.kind === "conflict");
      expect(
        conflict?.calls.map(({ call, server }) => `${call.verb} ${call.name} ${server?.status}`),
      ).toContain("delete b 200");
      const removed = cluster.announcements.filter(({ reason }) => reason === "ChildRemoved");
      expect(removed.map(({ note }) => note).sort()).toEqual([
        "ConfigMap a is deleted.",
        "ConfigMap b is deleted.",
      ]);
      expect(await get(cluster, "configMap")).toBeUndefined();
    });

    test("keep an owner that they give to a child which is released then", async () => {
      const { cluster, client, declare, meanwhile } = await declaring([kept]);
      const { uid } = (await client.create(builtin.secret, { metadata: { name: "o", namespace: "default" } }))
        .metadata;
      const theirs = { apiVersion: "v1", kind: "Secret", name: "o", uid };
      meanwhile(async () => {
        return client.patch(builtin.configMap, key, patch({ metadata: { ownerReferences: [theirs] } }));
      });
      await declare([]);
      expect((await get(cluster, "configMap"))?.metadata.ownerReferences).toEqual([theirs]);
    });

    test("keep an object that they create in place of a child", async () => {
      const { cluster, client, meanwhile } = await declaring([configMap({ a: "1" })]);
      meanwhile(async () => {
        await client.delete(builtin.configMap, key);
        await client.create(builtin.configMap, {
          metadata: { name: "a", namespace: "default" },
          data: { a: "theirs" },
        });
      });
      await client.patch(builtin.configMap, key, patch({ data: { a: "2" } }));
      await cluster.advance("10s");
      expect(await get(cluster, "configMap")).toMatchObject({ data: { a: "theirs" } });
      expect(await conditionOf(cluster, "Ready")).toMatchObject({ reason: "ChildNameTaken" });
    });
  });

  describe("a field that others change", () => {
    test("after a long time without a change is set back fast again", async () => {
      const { cluster, as } = await declaring([configMap({ a: "1" })]);
      const edit = () =>
        as("other").patch(builtin.configMap, key, {
          type: "merge",
          body: { data: { a: String(Math.random()) } },
        });
      for (let i = 0; i < 8; i++) {
        await edit();
        await cluster.advance("5m");
      }
      await cluster.advance("1h");
      for (let i = 0; i < 2; i++) {
        await edit();
        await cluster.advance("10s");
        expect((await get(cluster, "configMap"))?.["data"]).toEqual({ a: "1" });
      }
    });

    test("is not one that the function itself changes or no longer declares", async () => {
      const { cluster, declare } = await declaring([configMap({ a: "1", b: "1" })]);
      await declare([configMap({ a: "2" })]);
      await declare([{ object: configMap({ a: "2" }), deletion: "Orphan" }]);
      const reasons = cluster.announcements.map(({ reason }) => reason);
      expect(reasons.filter((reason) => reason === "ChildChanged")).toHaveLength(2);
      expect(reasons).not.toContain("ChildCorrected");
    });

    test("is named for a minute, also if the function asks for a later run", async () => {
      const { cluster, as } = await open(
        controllerOfWebsites(() => ({ children: [configMap({ a: "1" })], requeueAfter: "1h" })),
      );
      await cluster.apply(website({ html: "" }));
      await cluster.advance("1s");
      await as("other").patch(builtin.configMap, key, { type: "merge", body: { data: { a: "2" } } });
      await cluster.advance("1s");
      expect(await conditionOf(cluster, "Contested")).toBeDefined();
      await cluster.advance("1m");
      expect(await conditionOf(cluster, "Contested")).toBeUndefined();
    });

    const labels = { app: "a" };
    // The server writes the quantity as 1.
    const web = { name: "web", image: "web:1", resources: { requests: { cpu: "1000m" } } };
    const podsOn = (nodeSelector: object) => ({
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { nodeSelector, containers: [web] } },
    });
    test.each([
      ["the selector of a Service", "service", (selector: object) => ({ selector, ports: [{ port: 80 }] })],
      ["a nodeSelector", "deployment", podsOn],
    ] as const)("is set back, if it is %s to which others add a label", async (_, kind, specWith) => {
      const declared = specWith({ a: "1" });
      const { cluster, as } = await declaring([{ ...kinds[kind], metadata: { name: "a" }, spec: declared }]);
      const theirs = { theirs: "1" };
      for (const body of [{ metadata: { labels: theirs } }, { spec: specWith({ a: "1", ...theirs }) }]) {
        await as("other").patch(builtin[kind], key, { type: "merge", body });
        await cluster.advance("1s");
      }
      const live = await get(cluster, kind);
      expect(JSON.stringify(live?.["spec"])).toMatch(/selector":\{"a":"1"\}/i);
    });

    test("is set back, if it is a list to which others add an item", async () => {
      const child = deployment("a");
      const containers = (command: readonly string[]) => [{ name: "web", image: "web:1", command }];
      const spec = (command: readonly string[]) => ({
        selector: { matchLabels: { app: "a" } },
        template: { metadata: { labels: { app: "a" } }, spec: { containers: containers(command) } },
      });
      const { cluster, as } = await declaring([{ ...child, spec: spec(["serve"]) }]);
      await as("other").patch(builtin.deployment, key, {
        type: "merge",
        body: { spec: spec(["serve", "--debug"]) },
      });
      await cluster.advance("1s");
      expect(await get(cluster, "deployment")).toMatchObject({ spec: spec(["serve"]) });
    });

    test("is set back in the end, also if the API server refuses another child", async () => {
      const { cluster, as, declare } = await declaring([configMap({ a: "1" })]);
      const edit = () =>
        as("other").patch(builtin.configMap, key, {
          type: "merge",
          body: { data: { a: String(Math.random()) } },
        });
      for (let i = 0; i < 6; i++) {
        await edit();
        await cluster.advance("1m");
      }
      await edit();
      await cluster.advance("1s");
      await edit();
      await declare([configMap({ a: "1" }), bad]);
      await cluster.advance("10m");
      expect((await get(cluster, "configMap"))?.["data"]).toEqual({ a: "1" });
    });
  });

  describe("an update with Rolling", () => {
    const child = (name: string, image: string, more: Partial<SettledChild> = {}): Child => ({
      object: deployment(name, name, image),
      update: "Rolling",
      ...more,
    });
    const imageIn = async (cluster: TestCluster, name: string) =>
      imageOf(await get(cluster, "deployment", name));
    const readyChildren = async (children: readonly Child[], ready: readonly string[]) => {
      const opened = await declaring(children);
      for (const name of ready) await makeReady(opened.cluster, name);
      await opened.cluster.runUntilIdle();
      return opened;
    };

    test("does not wait for children of the kind that are updated in another way", async () => {
      const children = (image: string) => [child("a", image), child("b", image, { update: "Apply" })];
      const { cluster, declare } = await readyChildren(children("web:1"), ["a"]);
      await declare(children("web:2"));
      expect(await imageIn(cluster, "a")).toBe("web:2");
    });

    test("waits while another one is being deleted, also if it has no status", async () => {
      const page = (name: string, value: string): Child => ({
        object: configMap({ a: value }, name),
        update: "Rolling",
      });
      const { cluster, client, declare } = await declaring([page("a", "1"), page("b", "1")]);
      const b = objectKey({ namespace: "default", name: "b" });
      const body = { metadata: { finalizers: ["example.com/slow"] } };
      await client.patch(builtin.configMap, b, { type: "merge", body });
      await cluster.delete(kinds.configMap, "b");
      await declare([page("a", "2"), page("b", "1")]);
      expect((await get(cluster, "configMap"))?.["data"]).toEqual({ a: "1" });
    });

    test("changes as many at once as may be not ready", async () => {
      const names = ["a", "b", "c"];
      const children = (image: string) => names.map((name) => child(name, image, { maxUnavailable: 2 }));
      const { cluster, declare } = await readyChildren(children("web:1"), names);
      await declare(children("web:2"));
      expect(await Promise.all(names.map((name) => imageIn(cluster, name)))).toEqual([
        "web:2",
        "web:2",
        "web:1",
      ]);
    });
  });

  test("an object that has the labels of a child and belongs to that child is not pruned", async () => {
    const { cluster, client, declare } = await declaring([configMap({ a: "1" })]);
    const { metadata } = (await get(cluster, "configMap")) ?? expect.fail();
    const reference = controllerReference({ ref: builtin.configMap, metadata });
    await client.create(builtin.secret, {
      metadata: {
        name: "b",
        namespace: "default",
        labels: metadata.labels,
        ownerReferences: [reference],
      },
    });
    await declare([configMap({ a: "2" })]);
    expect(await get(cluster, "secret", "b")).toBeDefined();
  });

  test.each([
    ["a", "not a label"],
    ["immutable-settings", "it cannot be changed"],
  ])("an update with Recreate keeps %s if another change is refused: %s", async (name, label) => {
    const child = (labels: Readonly<Record<string, string>>): Child => ({
      object: { ...kinds.configMap, metadata: { name, labels }, data: { a: "1" } },
      update: "Recreate",
    });
    const { cluster, declare } = await declaring([child({ app: "a" })]);
    const before = await get(cluster, "configMap", name);
    await declare([child({ app: label })]);
    expect(await conditionOf(cluster, "Ready")).toMatchObject({ status: "False", reason: "ChildInvalid" });
    expect(await get(cluster, "configMap", name)).toEqual(before);
  });

  test("an update with Recreate keeps a child that could not be created again", async () => {
    const secret = (type: string, name: string): Child => ({
      object: { ...kinds.secret, metadata: { name: "a" }, type, data: { [name]: "" } },
      update: "Recreate",
    });
    const { cluster, declare } = await declaring([secret("example.com/one", "a")]);
    const before = await get(cluster, "secret");
    // The type is immutable, and the name of the value is not valid.
    await declare([secret("example.com/two", "not a name")]);
    expect(await conditionOf(cluster, "Ready")).toMatchObject({ status: "False", reason: "ChildInvalid" });
    expect(await get(cluster, "secret")).toEqual(before);
  });

  describe("an object that another controller has made for the parent", () => {
    const declaringBesides = async (
      children: readonly Child[],
      labels: Readonly<Record<string, string>> = {},
    ) => {
      const opened = await declaring([]);
      const { metadata } = (await opened.cluster.get(websiteKind, "a")) ?? expect.fail();
      const ownerReferences = [controllerReference({ ref: refOf(Website), metadata })];
      await opened.client.create(builtin.configMap, {
        metadata: { name: "a", namespace: "default", labels, ownerReferences },
        data: { a: "theirs" },
      });
      await opened.declare(children);
      return opened;
    };

    test("is left alone", async () => {
      const { cluster } = await declaringBesides([configMap({ a: "1" })]);
      expect(await get(cluster, "configMap")).toMatchObject({ data: { a: "theirs" } });
      expect(await conditionOf(cluster, "Ready")).toMatchObject({
        reason: "ChildNameTaken",
        message: expect.stringContaining(
          "another controller has made it for the same object. Declare it with adopt",
        ) as string,
      });
    });

    test("outlives its parent, if it is adopted so", async () => {
      const kept: Child = { object: configMap({ a: "1" }), adopt: true, deletion: "Retain" };
      const { cluster } = await declaringBesides([kept]);
      expect((await get(cluster, "configMap"))?.metadata.ownerReferences ?? []).toEqual([]);
      await cluster.delete(websiteKind, "a");
      await cluster.runUntilIdle();
      expect(await get(cluster, "configMap")).toMatchObject({ data: { a: "1" } });
    });

    test("becomes a child with adopt, but not that of another function", async () => {
      const adopted: Child = { object: configMap({ a: "1" }), adopt: true };
      const one = await declaringBesides([adopted]);
      expect(await get(one.cluster, "configMap")).toMatchObject({ data: { a: "1" } });
      const other = await declaringBesides([adopted], { "drover.dev/controller": "others.example.com" });
      expect(await get(other.cluster, "configMap")).toMatchObject({ data: { a: "theirs" } });
      expect(await conditionOf(other.cluster, "Ready")).toMatchObject({ reason: "ChildNameTaken" });
    });
  });

  describe("a child that may outlive its parent", () => {
    const kept = (deletion: "Orphan" | "Retain"): Child => ({
      object: configMap({ a: "1" }),
      deletion,
    });

    test("is set back if others remove its annotations", async () => {
      const { cluster, client, declare } = await declaring([kept("Retain")]);
      const body = { metadata: { annotations: { "drover.dev/deletion": null } } };
      await client.patch(builtin.configMap, key, patch(body));
      await declare([kept("Retain")]);
      await cluster.delete(websiteKind, "a");
      await cluster.runUntilIdle();
      expect((await get(cluster, "configMap"))?.["data"]).toEqual({ a: "1" });
    });

    test("outlives it, too, if it was declared so later", async () => {
      const { cluster, declare } = await declaring([configMap({ a: "1" })]);
      await declare([kept("Retain")]);
      await cluster.delete(websiteKind, "a");
      await cluster.runUntilIdle();
      expect((await get(cluster, "configMap"))?.metadata.ownerReferences ?? []).toEqual([]);
      expect((await get(cluster, "configMap"))?.["data"]).toEqual({ a: "1" });
    });

    test("is deleted, if it was declared so later", async () => {
      const { cluster, declare } = await declaring([kept("Retain")]);
      await declare([configMap({ a: "1" })]);
      await declare([]);
      expect(await get(cluster, "configMap")).toBeUndefined();
    });

    test("keeps the owners that others have given it", async () => {
      const { cluster, client, declare } = await declaring([kept("Orphan")]);
      const { uid } = (await client.create(builtin.secret, { metadata: { name: "o", namespace: "default" } }))
        .metadata;
      const theirs = { apiVersion: "v1", kind: "Secret", name: "o", uid };
      const withTheirs = { metadata: { ownerReferences: [theirs] } };
      await client.patch(builtin.configMap, key, { type: "merge", body: withTheirs });
      await declare([]);
      expect((await get(cluster, "configMap"))?.metadata.ownerReferences).toEqual([theirs]);
    });

    test("is not taken from another controller that has left it", async () => {
      const { cluster, client } = await open(
        controllerOfWebsites(() => ({ children: [configMap({ a: "1" })] })),
      );
      const before = await client.create(builtin.configMap, {
        data: { theirs: "t" },
        metadata: {
          name: "a",
          namespace: "default",
          labels: { "drover.dev/controller": "others", "drover.dev/owner-uid": "u" },
          annotations: { "drover.dev/deletion": "Retain" },
        },
      });
      await cluster.apply(website({ html: "" }));
      await cluster.advance("10s");
      expect(await get(cluster, "configMap")).toEqual(before);
      expect(await conditionOf(cluster, "Ready")).toMatchObject({ reason: "ChildNameTaken" });
    });
  });

  test("a child that the API server refuses does not park the key while another one may succeed later", async () => {
    const { cluster, client } = await open(
      controllerOfWebsites(() => ({ children: [bad, configMap({ a: "1" })] })),
    );
    await client.create(builtin.configMap, { metadata: { name: "a", namespace: "default" } });
    await cluster.apply(website({ html: "" }));
    await cluster.advance("1s");
    expect(outcomes(cluster)).not.toContain("terminal");
    await client.delete(builtin.configMap, key);
    await cluster.advance("5m");
    expect((await get(cluster, "configMap"))?.["data"]).toEqual({ a: "1" });
  });
}
