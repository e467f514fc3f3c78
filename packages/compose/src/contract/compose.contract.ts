import type { Child, SettledChild } from "@drover/controller";
import { builtin, controllerReference, managedFieldsOf, refOf } from "@drover/kube";
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
  selectorOf,
  type Servers,
} from "./clusters.contract.ts";
import { elsewhereContract } from "./elsewhere.contract.ts";
import { forgedContract } from "./forged.contract.ts";
import { invalidContract } from "./invalid.contract.ts";
import { memoryContract } from "./memory.contract.ts";
import { othersContract } from "./others.contract.ts";
import { relatedContract } from "./related.contract.ts";
import {
  controllerOfWebsites,
  kinds,
  owns,
  Website,
  website,
  websiteKind,
  websites,
} from "../website.fixture.ts";

/** The promises of a composed controller, with any API server. The tests read there with a client of their own. */
export function composeContract(servers: () => Servers): void {
  const { open, declaring } = composedClusters(servers);

  describe("children", () => {
    test("are created, owned, and ready when their status says so", async () => {
      const { cluster } = await open(websites());
      const parent = await cluster.apply(website({ html: "Hi", replicas: 2, public: true }));
      await cluster.runUntilIdle();
      expect(await get(cluster, "configMap")).toMatchObject({
        data: { "index.html": "Hi" },
        metadata: {
          labels: {
            "drover.dev/controller": "websites.example.com",
            "drover.dev/owner-uid": parent.metadata.uid,
          },
          ownerReferences: [{ ...websiteKind, name: "a", uid: parent.metadata.uid, controller: true }],
        },
      });
      expect(await conditionOf(cluster, "Ready")).toMatchObject({
        status: "False",
        reason: "ChildrenNotReady",
        message: "Deployment a: 0 of 2 replicas are updated.",
      });
      const { generation } = (await get(cluster, "deployment"))?.metadata ?? expect.fail();
      const counts = { replicas: 2, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 2 };
      await cluster.writeStatus({
        ...kinds.deployment,
        metadata: { name: "a" },
        status: { ...counts, observedGeneration: generation },
      });
      await cluster.runUntilIdle();
      expect(await conditionOf(cluster, "Ready")).toMatchObject({
        status: "True",
        message: "All 3 children are ready.",
      });
      expect(await cluster.get(websiteKind, "a")).toMatchObject({ status: { replicas: 2 } });
    });

    test("that a run creates, and those that it changes, are in one Event each", async () => {
      const { cluster } = await open(websites());
      await cluster.apply(website({ html: "Hi", public: true }));
      await cluster.runUntilIdle();
      await cluster.apply(website({ html: "Ho", replicas: 2, public: true }));
      await cluster.runUntilIdle();
      const notes = cluster.announcements.filter(({ action }) => action === "Apply");
      expect(notes.map(({ reason, note }) => [reason, note])).toEqual([
        ["ChildCreated", "ConfigMap a is created. Deployment a is created. Service a is created."],
        ["ChildChanged", "ConfigMap a is changed. Deployment a is changed."],
      ]);
    });

    test("are changed and pruned by their declaration, and fields of others stay", async () => {
      const { cluster, client } = await open(websites());
      await cluster.apply(website({ html: "Hi", public: true }));
      await cluster.runUntilIdle();
      await client.patch(builtin.configMap, key, { type: "merge", body: { data: { theirs: "t" } } });
      await cluster.apply(website({ html: "Ho", public: false }));
      await cluster.runUntilIdle();
      expect(await get(cluster, "configMap")).toMatchObject({ data: { "index.html": "Ho", theirs: "t" } });
      expect(await get(cluster, "service")).toBeUndefined();
      expect(await get(cluster, "deployment")).toBeDefined();
    });

    test("lose a field that is no longer declared", async () => {
      const { cluster, declare } = await declaring([configMap({ a: "1", b: "1" })]);
      await declare([configMap({ b: "1" })]);
      expect((await get(cluster, "configMap"))?.["data"]).toEqual({ b: "1" });
    });

    test("get no write when nothing has changed", async () => {
      const { cluster } = await open(websites());
      await cluster.apply(website({ html: "Hi", public: true }));
      await cluster.runUntilIdle();
      const versions = async () => {
        const all = [
          await get(cluster, "configMap"),
          await get(cluster, "service"),
          await get(cluster, "deployment"),
        ];
        return [...all, await cluster.get(websiteKind, "a")].map(
          (object) => object?.metadata.resourceVersion,
        );
      };
      const before = await versions();
      const runs = cluster.runs.length;
      await cluster.advance("11h"); // a resync
      expect(cluster.runs.length).toBeGreaterThan(runs);
      expect(await versions()).toEqual(before);
    });

    test("need one request to be changed, and none when nothing has changed, with copies", async () => {
      const { cluster, client, declare } = await declaring(
        [configMap({ a: "1" }), configMap({ b: "1" }, "b")],
        {
          copies: true,
          owns: owns.slice(0, 3).map((kind) => ({ ...kind, copies: true })), // Secrets are never copied.
        },
      );
      const callsOf = (run = cluster.runs.at(-1)) =>
        run?.calls.map(({ call }) => `${call.verb} ${call.resource} ${call.subresource}`);
      const body = { metadata: { labels: { theirs: "t" } } };
      await client.patch(builtin.configMap, key, { type: "merge", body });
      await cluster.advance("1s");
      expect(cluster.runs.at(-1)?.reasons).toEqual(["Modified ConfigMap default/a"]);
      expect(callsOf()).toEqual([]);
      const runs = cluster.runs.length;
      await declare([configMap({ a: "1" }), configMap({ b: "2" }, "b")]);
      expect(callsOf(cluster.runs[runs])).toEqual([
        "patch configmaps ",
        "update websites.example.com status",
      ]);
    });

    test("come again when they are deleted, by their name only if Drover's labels are lost", async () => {
      const { cluster, client } = await declaring([configMap({ a: "1" })]);
      await cluster.delete(kinds.configMap, "a");
      await cluster.runUntilIdle();
      const first = await get(cluster, "configMap");
      expect(first?.["data"]).toEqual({ a: "1" });
      const labels = { "drover.dev/owner-uid": null };
      await client.patch(builtin.configMap, key, {
        type: "merge",
        body: { metadata: { labels }, data: { a: "2" } },
      });
      await cluster.runUntilIdle();
      expect(await get(cluster, "configMap")).toMatchObject({
        metadata: {
          uid: first?.metadata.uid,
          labels: { "drover.dev/owner-uid": expect.any(String) as string },
        },
        data: { a: "1" },
      });
    });

    test("that are being deleted are left alone until they are gone, and come again then", async () => {
      const { cluster, client, declare } = await declaring([configMap({ a: "1" })]);
      const finalize = (finalizers: readonly string[] | null) =>
        client.patch(builtin.configMap, key, { type: "merge", body: { metadata: { finalizers } } });
      await finalize(["example.com/slow"]);
      await cluster.delete(kinds.configMap, "a");
      await declare([configMap({ a: "2" })]);
      expect((await get(cluster, "configMap"))?.["data"]).toEqual({ a: "1" });
      expect(await conditionOf(cluster, "Ready")).toMatchObject({
        status: "False",
        message: "ConfigMap a: it is being deleted, and is created again afterwards.",
      });
      await finalize(null);
      await cluster.runUntilIdle();
      expect((await get(cluster, "configMap"))?.["data"]).toEqual({ a: "2" });
    });

    test("that are being deleted and are not declared are announced once", async () => {
      const { cluster, client, declare } = await declaring([configMap({})]);
      const body = { metadata: { finalizers: ["example.com/slow"] } };
      await client.patch(builtin.configMap, key, { type: "merge", body });
      await declare([]);
      await declare([]);
      const removed = cluster.announcements.filter(({ reason }) => reason === "ChildRemoved");
      expect(removed.map(({ note }) => note)).toEqual(["ConfigMap a is deleted."]);
    });

    test("Secrets keep the text that is declared, and are not written again", async () => {
      const secret: Child = {
        ...kinds.secret,
        metadata: { name: "a" },
        stringData: { word: "ä" },
        data: { b: "Yg==", word: "eA==" },
      };
      const { cluster, declare } = await declaring([secret]);
      const { metadata, ...rest } = (await get(cluster, "secret")) ?? expect.fail();
      expect(rest["data"]).toEqual({ word: Buffer.from("ä").toString("base64"), b: "Yg==" });
      await declare([secret]);
      expect((await get(cluster, "secret"))?.metadata.resourceVersion).toBe(metadata.resourceVersion);
    });
  });

  describe("objects of others", () => {
    const foreign = { metadata: { name: "a", namespace: "default" }, data: { theirs: "t" } };

    test("of the same name are left alone, and named in Ready", async () => {
      const { cluster, client } = await open(
        controllerOfWebsites(() => ({ children: [configMap({ a: "1" })] })),
      );
      const before = await client.create(builtin.configMap, foreign);
      await cluster.apply(website({ html: "" }));
      await cluster.advance("10s");
      expect(await get(cluster, "configMap")).toEqual(before);
      expect(await conditionOf(cluster, "Ready")).toMatchObject({
        status: "False",
        reason: "ChildNameTaken",
        message: expect.stringMatching(
          /^ConfigMap a: an object of this name exists already, and has no controller\./,
        ) as string,
      });
      await client.delete(builtin.configMap, key);
      await cluster.advance("10m");
      expect((await get(cluster, "configMap"))?.["data"]).toEqual({ a: "1" });
    });

    test("that belong to another controller are not even adopted, and are not pruned", async () => {
      const child: Child = { object: configMap({ a: "1" }), adopt: true };
      const { cluster, client } = await open(controllerOfWebsites(() => ({ children: [child] })));
      const { metadata: owner } = await client.create(builtin.secret, {
        metadata: { name: "owner", namespace: "default" },
      });
      const reference = controllerReference({ ref: builtin.secret, metadata: owner });
      const metadata = { ...foreign.metadata, ownerReferences: [reference] };
      const before = await client.create(builtin.configMap, { ...foreign, metadata });
      await cluster.apply(website({ html: "" }));
      await cluster.advance("10s");
      expect(await get(cluster, "configMap")).toEqual(before);
      expect(await conditionOf(cluster, "Ready")).toMatchObject({
        message: expect.stringContaining("belongs to Secret owner") as string,
      });
    });

    test("without a controller are adopted only if the child says so", async () => {
      const child: Child = { object: configMap({ a: "1" }), adopt: true };
      const { cluster, client } = await open(controllerOfWebsites(() => ({ children: [child] })));
      const { uid } = (await client.create(builtin.configMap, foreign)).metadata;
      const parent = await cluster.apply(website({ html: "" }));
      await cluster.runUntilIdle();
      expect(await get(cluster, "configMap")).toMatchObject({
        metadata: { uid, ownerReferences: [{ uid: parent.metadata.uid }] },
        data: { a: "1", theirs: "t" },
      });
    });

    test("with labels like those of children, but without the controller reference, are not pruned", async () => {
      const { cluster, client, declare } = await declaring([configMap({ a: "1" })]);
      const { labels } = (await get(cluster, "configMap"))?.metadata ?? expect.fail();
      await client.create(builtin.configMap, {
        metadata: { name: "b", namespace: "default", labels },
        data: {},
      });
      await declare([]);
      expect(await get(cluster, "configMap")).toBeUndefined();
      expect(await get(cluster, "configMap", "b")).toBeDefined();
    });
  });

  describe("a field that another client changes", () => {
    test("is set back; an Event and a condition name the manager and the field for a minute", async () => {
      const { cluster, as } = await declaring([configMap({ a: "1" })]);
      await as("kubectl-edit").patch(builtin.configMap, key, { type: "merge", body: { data: { a: "2" } } });
      await cluster.advance("1s");
      expect((await get(cluster, "configMap"))?.["data"]).toEqual({ a: "1" });
      const text = 'ConfigMap a: others have changed it: .data.a by "kubectl-edit".';
      expect(await conditionOf(cluster, "Contested")).toMatchObject({
        status: "True",
        reason: "ChildCorrected",
        message: `Fields of children were set back. ${text}`,
      });
      expect(await conditionOf(cluster, "Ready")).toMatchObject({ status: "True" });
      const note = 'ConfigMap a is set back: others have changed it: .data.a by "kubectl-edit".';
      expect(cluster.announcements).toContainEqual(
        expect.objectContaining({ reason: "ChildCorrected", note }),
      );
      await cluster.advance("1m");
      expect(await conditionOf(cluster, "Contested")).toBeUndefined();
    });

    test("again and again slows the key down, and no change is lost", async () => {
      const { cluster, as } = await declaring([configMap({ a: "1" })]);
      const other = as("other");
      let corrected = 0;
      for (let i = 0; i < 50; i++) {
        const value = (await get(cluster, "configMap"))?.["data"] as { a?: string };
        if (value.a === "1") {
          corrected++;
          await other.patch(builtin.configMap, key, { type: "merge", body: { data: { a: `2-${i}` } } });
        }
        await cluster.advance("1s");
      }
      expect(corrected).toBeLessThan(20);
      expect(await conditionOf(cluster, "Ready")).toMatchObject({ status: "False", reason: "Contested" });
      expect(JSON.stringify(await conditionOf(cluster, "Ready"))).toContain(".data.a");
      await cluster.advance("10m");
      expect((await get(cluster, "configMap"))?.["data"]).toEqual({ a: "1" });
      expect(await conditionOf(cluster, "Ready")).toMatchObject({ status: "True" });
    });

    test("that is not declared is no difference", async () => {
      const { cluster, client } = await declaring([configMap({ a: "1" })]);
      const body = {
        metadata: { labels: { theirs: "t" }, annotations: { theirs: "t" } },
        data: { theirs: "t" },
      };
      const { resourceVersion } = (await client.patch(builtin.configMap, key, { type: "merge", body }))
        .metadata;
      await cluster.runUntilIdle();
      expect((await get(cluster, "configMap"))?.metadata.resourceVersion).toBe(resourceVersion);
      expect(await conditionOf(cluster, "Contested")).toBeUndefined();
    });
  });

  describe("waves", () => {
    test("begin when all children of lower waves are ready", async () => {
      const first: Child = { object: deployment("first"), wave: 1 };
      const second: Child = { object: configMap({}, "second"), wave: 2 };
      const { cluster } = await declaring([second, first, configMap({}, "zero")]);
      expect(await get(cluster, "configMap", "zero")).toBeDefined();
      expect(await get(cluster, "deployment", "first")).toBeDefined();
      expect(await get(cluster, "configMap", "second")).toBeUndefined();
      expect(await conditionOf(cluster, "Ready")).toMatchObject({
        message:
          "Deployment first: 0 of 1 replicas are updated. 1 more children follow when these are ready.",
      });
      await makeReady(cluster, "first");
      await cluster.runUntilIdle();
      expect(await get(cluster, "configMap", "second")).toBeDefined();
    });

    test("are in the order of numbers", async () => {
      const { cluster } = await declaring([
        { object: configMap({}, "ten"), wave: 10 },
        { object: deployment("two"), wave: 2 },
        { object: configMap({}, "below"), wave: -1 },
        { object: configMap({}, "far-below"), wave: -10 },
      ]);
      for (const name of ["below", "far-below"]) expect(await get(cluster, "configMap", name)).toBeDefined();
      expect(await get(cluster, "configMap", "ten")).toBeUndefined();
    });

    test("prune only when all waves are applied", async () => {
      const { cluster, declare } = await declaring([configMap({}, "old")]);
      await declare([deployment("new"), { object: configMap({}, "later"), wave: 1 }]);
      expect(await get(cluster, "configMap", "old")).toBeDefined();
      await makeReady(cluster, "new");
      await cluster.runUntilIdle();
      expect(await get(cluster, "configMap", "old")).toBeUndefined();
    });
  });

  describe("an update", () => {
    const withSelector = (app: string, update: SettledChild["update"]): Child => ({
      object: deployment("a", app),
      update,
    });

    test("of an immutable field is refused, which Ready says, and parks the key", async () => {
      const { cluster, declare } = await declaring([withSelector("one", "Apply")]);
      await declare([withSelector("two", "Apply")]);
      expect(await conditionOf(cluster, "Ready")).toMatchObject({
        status: "False",
        reason: "ChildImmutable",
      });
      expect(await conditionOf(cluster, "Stalled")).toMatchObject({ status: "True" });
      expect(outcomes(cluster).at(-1)).toBe("terminal");
      expect(await selectorOf(cluster)).toBe("one");
    });

    test("with Recreate deletes the child, and creates it again", async () => {
      const { cluster, client, declare } = await declaring([withSelector("one", "Recreate")]);
      const before = await get(cluster, "deployment");
      await declare([withSelector("two", "Recreate")]);
      // Without a garbage collector a foreground deletion waits for its dependents.
      await client
        .patch(builtin.deployment, key, { type: "merge", body: { metadata: { finalizers: null } } })
        .catch(() => undefined);
      await cluster.runUntilIdle();
      expect(await selectorOf(cluster)).toBe("two");
      expect((await get(cluster, "deployment"))?.metadata.uid).not.toBe(before?.metadata.uid);
    });

    test("with OnDelete waits until the child is deleted", async () => {
      const child = (value: string): Child => ({
        object: configMap({ a: value }),
        update: "OnDelete",
      });
      const { cluster, declare } = await declaring([child("1")]);
      await declare([child("2")]);
      expect((await get(cluster, "configMap"))?.["data"]).toEqual({ a: "1" });
      expect(await conditionOf(cluster, "Ready")).toMatchObject({
        status: "False",
        reason: "ChildrenNotReady",
      });
      await cluster.delete(kinds.configMap, "a");
      await cluster.runUntilIdle();
      expect((await get(cluster, "configMap"))?.["data"]).toEqual({ a: "2" });
    });

    test("with OnDelete is a child nevertheless, and outlives its parent if that is declared later", async () => {
      const child = (value: string, deletion: SettledChild["deletion"]): Child => ({
        object: configMap({ a: value }),
        update: "OnDelete",
        deletion,
      });
      const { cluster, client, declare } = await declaring([child("1", "Delete")]);
      const lost = { "drover.dev/owner-uid": null, "drover.dev/controller": null };
      await client.patch(builtin.configMap, key, { type: "merge", body: { metadata: { labels: lost } } });
      await declare([child("2", "Retain")]);
      const { metadata, data } = (await get(cluster, "configMap")) ?? expect.fail();
      expect([data, metadata.ownerReferences ?? []]).toEqual([{ a: "1" }, []]);
      expect(Object.keys(metadata.labels ?? {}).sort()).toEqual(Object.keys(lost).sort());
      await cluster.delete(websiteKind, "a");
      await cluster.runUntilIdle();
      expect((await get(cluster, "configMap"))?.["data"]).toEqual({ a: "1" });
    });

    test("with OnDelete of a child that is as declared only adds what is missing of Drover's marks", async () => {
      const child: Child = { object: configMap({ a: "1" }), update: "OnDelete" };
      const { cluster, client, declare } = await declaring([child]);
      const annotations = { "drover.dev/applied": null };
      await client.patch(builtin.configMap, key, { type: "merge", body: { metadata: { annotations } } });
      await declare([child]);
      expect(await conditionOf(cluster, "Ready")).toMatchObject({ status: "True" });
      expect((await get(cluster, "configMap"))?.metadata.annotations).toHaveProperty(["drover.dev/applied"]);
    });

    test("with Rolling changes one child after the other", async () => {
      const child = (name: string, image: string): Child => ({
        object: deployment(name, name, image),
        update: "Rolling",
      });
      const names = ["a", "b", "c"];
      const images = async (cluster: TestCluster) =>
        Promise.all(names.map(async (name) => imageOf(await get(cluster, "deployment", name))));
      const { cluster, declare } = await declaring(names.map((name) => child(name, "web:1")));
      for (const name of names) await makeReady(cluster, name);
      await cluster.runUntilIdle();
      await declare(names.map((name) => child(name, "web:2")));
      expect(await images(cluster)).toEqual(["web:2", "web:1", "web:1"]);
      await makeReady(cluster, "a");
      await cluster.runUntilIdle();
      expect(await images(cluster)).toEqual(["web:2", "web:2", "web:1"]);
      await makeReady(cluster, "b");
      await cluster.runUntilIdle();
      expect(await images(cluster)).toEqual(["web:2", "web:2", "web:2"]);
    });
  });

  describe("a child that outlives its parent", () => {
    const kept = (deletion: "Orphan" | "Retain"): Child => ({
      object: configMap({ a: "1" }),
      deletion,
    });

    test.each(["Orphan", "Retain"] as const)(
      "%s: it stays, also if all dependents go first",
      async (deletion) => {
        const { cluster, client } = await declaring([kept(deletion), configMap({ gone: "1" }, "gone")]);
        const { uid, ownerReferences = [] } = (await get(cluster, "configMap"))?.metadata ?? expect.fail();
        expect(ownerReferences).toEqual([]);
        await client.delete(refOf(Website), key, { propagationPolicy: "Foreground" });
        await cluster.runUntilIdle();
        expect(await get(cluster, "configMap")).toMatchObject({ metadata: { uid }, data: { a: "1" } });
      },
    );

    test("is set back when others change it, and is created again", async () => {
      const { cluster, client } = await declaring([kept("Retain")]);
      await client.patch(builtin.configMap, key, { type: "merge", body: { data: { a: "2" } } });
      await cluster.advance("1s");
      expect((await get(cluster, "configMap"))?.["data"]).toEqual({ a: "1" });
      await cluster.delete(kinds.configMap, "a");
      await cluster.advance("1s");
      expect((await get(cluster, "configMap"))?.["data"]).toEqual({ a: "1" });
    });

    test.each([false, true])("is not taken by another parent, with adopt: %s", async (adopt) => {
      const child = { object: configMap({ a: "2" }), deletion: "Retain", adopt } as const;
      const { cluster } = await open(
        controllerOfWebsites(({ metadata }) => ({
          children: [metadata.name === "b" ? child : kept("Retain")],
        })),
      );
      for (const name of ["a", "b"]) {
        await cluster.apply(website({ html: "" }, name));
        await cluster.advance("1s");
      }
      expect((await get(cluster, "configMap"))?.["data"]).toEqual({ a: "1" });
      const status = (await cluster.get(websiteKind, "b"))?.["status"];
      expect(JSON.stringify(status)).toContain("belongs to Website.example.com/a");
    });

    test("gets an owner when it is declared to be deleted, and loses it again", async () => {
      const { cluster, declare } = await declaring([kept("Retain")]);
      const ownersOf = async () => (await get(cluster, "configMap"))?.metadata.ownerReferences?.length ?? 0;
      await declare([configMap({ a: "1" })]);
      expect(await ownersOf()).toBe(1);
      await declare([kept("Orphan")]);
      expect(await ownersOf()).toBe(0);
    });

    test("Orphan: is released when it is no longer declared", async () => {
      const { cluster, declare } = await declaring([kept("Orphan")]);
      await declare([]);
      const left = (await get(cluster, "configMap")) ?? expect.fail();
      expect(left.metadata.ownerReferences ?? []).toEqual([]);
      expect(Object.keys(left.metadata.labels ?? {})).toEqual([]);
    });

    test("Retain: stays, and is used again by the next parent", async () => {
      const { cluster, declare } = await declaring([kept("Retain")]);
      const { uid } = (await get(cluster, "configMap"))?.metadata ?? expect.fail();
      await declare([]);
      expect((await get(cluster, "configMap"))?.metadata.uid).toBe(uid);
      await declare([kept("Retain")]);
      await cluster.delete(websiteKind, "a");
      await cluster.runUntilIdle();
      await cluster.apply(website({ html: "again" }));
      await cluster.runUntilIdle();
      expect((await get(cluster, "configMap"))?.metadata.uid).toBe(uid);
      expect(await conditionOf(cluster, "Ready")).toMatchObject({ status: "True" });
    });
  });

  test("fields belong to the field manager of the controller", async () => {
    const { cluster } = await declaring([configMap({ a: "1" })]);
    const entries = managedFieldsOf((await get(cluster, "configMap")) ?? expect.fail());
    expect(entries.map(({ manager, operation }) => [manager, operation])).toEqual([
      ["drover.dev/websites.example.com", "Apply"],
    ]);
  });

  test("a child that the API server refuses is named in Ready, and the others are applied", async () => {
    const { cluster } = await open(
      controllerOfWebsites(() => ({ children: [configMap({}, "ok"), bad, configMap({}, "later")] })),
    );
    await cluster.apply(website({ html: "" }));
    await cluster.advance("1s");
    expect(await conditionOf(cluster, "Ready")).toMatchObject({ status: "False", reason: "ChildInvalid" });
    expect(outcomes(cluster)).toContain("terminal");
    for (const name of ["ok", "later"]) expect(await get(cluster, "configMap", name)).toBeDefined();
  });

  test("the function's status and conditions are written, also if a child is refused", async () => {
    const warm = { type: "Warm", status: "True", reason: "Sunny", message: "" } as const;
    const ready = { ...warm, type: "Ready" };
    const { cluster } = await open(
      controllerOfWebsites(() => ({
        children: [bad],
        status: { replicas: 3 },
        conditions: [ready, warm],
      })),
    );
    await cluster.apply(website({ html: "" }));
    await cluster.advance("1s");
    expect(await cluster.get(websiteKind, "a")).toMatchObject({ status: { replicas: 3 } });
    expect(await conditionOf(cluster, "Warm")).toMatchObject({ status: "True" });
    expect(await conditionOf(cluster, "Ready")).toMatchObject({ status: "False", reason: "ChildInvalid" });
  });

  elsewhereContract(servers);
  forgedContract(servers);
  invalidContract(servers);
  othersContract(servers);
  relatedContract(servers);
  memoryContract(servers);
}
