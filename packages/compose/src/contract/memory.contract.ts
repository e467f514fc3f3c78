import type { Child, ObservedObjects } from "@drover/controller";
import { builtin, kindOf } from "@drover/kube";
import type { CallRecord } from "@drover/testing/fault-proxy";
import { describe, expect, test } from "vitest";
import {
  composedClusters,
  conditionOf,
  configMap,
  deployment,
  get,
  imageOf,
  key,
  makeReady,
  type Servers,
} from "./clusters.contract.ts";
import { controllerOfWebsites, owns, website } from "../website.fixture.ts";

const textOf = ({ call: { verb, resource, name } }: CallRecord): string => `${verb} ${resource}/${name}`;

/** What a process remembers of children, what survives it, and what it must not take for a change of others. */
export function memoryContract(servers: () => Servers): void {
  const { open, declaring } = composedClusters(servers);
  const merge = (body: object) => ({ type: "merge", body }) as const;
  const sidecar = (image: string) => {
    const containers = [
      { name: "web", image },
      { name: "side", image: "side:1" },
    ];
    return merge({ spec: { template: { spec: { containers } } } });
  };

  describe("a child to which others have added items", () => {
    test("is not contested after a correction and a restart, when nobody writes", async () => {
      const { cluster, client } = await declaring([deployment("a")]);
      await client.patch(builtin.deployment, key, sidecar("web:2"));
      await cluster.advance("1s");
      expect(imageOf(await get(cluster, "deployment"))).toBe("web:1");
      await makeReady(cluster, "a");
      await cluster.advance("20m");
      cluster.restart();
      const runs = cluster.runs.length;
      await cluster.advance("11h"); // a resync
      expect(await conditionOf(cluster, "Ready")).toMatchObject({ status: "True" });
      expect(cluster.runs.length - runs).toBeLessThan(5);
    });

    test("with OnDelete is as declared", async () => {
      const { cluster, client } = await declaring([{ object: deployment("a"), update: "OnDelete" }]);
      await client.patch(builtin.deployment, key, sidecar("web:1"));
      await makeReady(cluster, "a");
      await cluster.runUntilIdle();
      expect(await conditionOf(cluster, "Ready")).toMatchObject({ status: "True" });
    });
  });

  describe("with copies of the children", () => {
    const copied = owns
      .filter(({ kind }) => kind.kind !== "Secret")
      .map((owned) => ({ ...owned, copies: true }));
    const children = [configMap({ a: "1" }), configMap({ a: "2" }, "b")];
    const made = ["patch configmaps/a", "patch configmaps/b", "update websites.example.com/a"];
    const composing = async (
      compose: Parameters<typeof controllerOfWebsites>[0],
      more: Parameters<typeof controllerOfWebsites>[1] = {},
    ) => {
      const { cluster, client } = await open(
        controllerOfWebsites(compose, { owns: copied, copies: true, copiesFor: "10m", ...more }),
      );
      await cluster.advance("1s");
      await cluster.apply(website({ html: "" }));
      await cluster.advance("1s");
      const calls = () => cluster.runs.map((run) => run.calls.map(textOf));
      return { cluster, client, calls };
    };

    test("the first run lists no children, what it makes causes no run, and the next run knows it", async () => {
      const { cluster, client, calls } = await composing(() => ({ children }));
      expect(calls()).toEqual([made]);
      await cluster.apply(website({ html: "2" }));
      await cluster.advance("1s");
      expect(calls()).toEqual([made, made.slice(-1)]);
      await client.patch(builtin.configMap, key, merge({ data: { a: "theirs" } }));
      await cluster.advance("1s");
      expect(await get(cluster, "configMap")).toMatchObject({ data: { a: "1" } });
      await client.delete(builtin.configMap, key);
      await cluster.advance("1s");
      expect(await get(cluster, "configMap")).toMatchObject({ data: { a: "1" } });
      const runs = cluster.runs.length;
      await cluster.advance("1m");
      expect(cluster.runs).toHaveLength(runs + 1); // the condition Contested ends
    });

    test.each<[string, (observed: ObservedObjects) => number]>([
      ["all", ({ all }) => all.length],
      ["those of a kind", (observed) => observed.of(builtin.configMap).length],
      ["one", (observed) => (observed.get(builtin.configMap, "b") === undefined ? 0 : 2)],
    ])("compose that looks at %s is called again with what it has made", async (_, count) => {
      const { cluster, calls } = await composing((observed) => ({
        children,
        conditions: [
          { type: "Counted", status: "True", reason: "Counted", message: String(count(observed.children)) },
        ],
      }));
      expect(calls()).toEqual([made, made.slice(-1)]);
      expect(await conditionOf(cluster, "Counted")).toMatchObject({ message: "2" });
    });

    test("compose that looks at related objects is called again with children that are among them", async () => {
      const related = [{ kind: kindOf(builtin.configMap), names: { all: true } }] as const;
      const { cluster } = await composing(
        ({ related: found }) => ({
          children,
          conditions: [
            { type: "Counted", status: "True", reason: "Counted", message: String(found.all.length) },
          ],
        }),
        { related },
      );
      expect(await conditionOf(cluster, "Counted")).toMatchObject({ message: "2" });
    });

    test("compose that looks at its status is called again with the one that it has returned", async () => {
      const { cluster } = await composing(({ status }) => ({
        children,
        conditions: [
          ...((status.conditions ?? []).some(({ type }) => type === "First")
            ? [{ type: "Second", status: "True", reason: "Second", message: "" } as const]
            : []),
          { type: "First", status: "True", reason: "First", message: "" },
        ],
      }));
      expect(await conditionOf(cluster, "Second")).toMatchObject({ status: "True" });
    });

    test("a rolling child that waits for one that is made in the same run is changed afterwards", async () => {
      const rolling = (a: string, name?: string): Child => ({
        object: configMap({ a }, name),
        update: "Rolling",
      });
      const { cluster } = await composing(({ spec: { html } }) => ({
        children: html === "" ? [rolling("1")] : [rolling("2"), rolling("2", "b")],
      }));
      await cluster.apply(website({ html: "2" }));
      await cluster.advance("1s");
      expect(await get(cluster, "configMap")).toMatchObject({ data: { a: "2" } });
    });

    test("a child that waits for another one is made as soon as that is ready", async () => {
      const { cluster } = await composing(() => ({
        children: [{ object: configMap({ a: "1" }), wave: 1 }, deployment("b")],
      }));
      expect(await get(cluster, "configMap")).toBeUndefined();
      await makeReady(cluster, "b");
      await cluster.advance("1s");
      expect(await get(cluster, "configMap")).toBeDefined();
    });
  });

  test("a client that replaces a whole child is slowed down, too, and named", async () => {
    const { cluster, as } = await declaring([configMap({ a: "1" })]);
    let replaced = 0;
    for (let i = 0; i < 30; i++) {
      const live = (await get(cluster, "configMap")) ?? expect.fail();
      if ((live["data"] as { a: string }).a === "1") {
        replaced++;
        const { name, namespace, labels, ownerReferences, uid } = live.metadata;
        const metadata = { name, namespace, labels, ownerReferences, uid };
        await as("replacer").replace(builtin.configMap, { metadata, data: { a: "2" } });
      }
      await cluster.advance("1s");
    }
    expect(replaced).toBeLessThan(15);
    expect(JSON.stringify(await conditionOf(cluster, "Contested"))).toContain("replacer");
  });

  test("Contested stays for a minute after the last correction", async () => {
    const { cluster, client } = await declaring([configMap({ a: "1" })]);
    const edit = () => client.patch(builtin.configMap, key, merge({ data: { a: "2" } }));
    await edit();
    await cluster.advance("50s");
    await edit();
    await cluster.advance("30s");
    expect(await conditionOf(cluster, "Contested")).toMatchObject({ status: "True" });
    await cluster.advance("40s");
    expect(await conditionOf(cluster, "Contested")).toBeUndefined();
  });

  test("a rolling child does not wait for one of a later wave", async () => {
    const rolling = (name: string, image: string, wave: number): Child => ({
      object: deployment(name, name, image),
      update: "Rolling",
      wave,
    });
    const { cluster, declare } = await declaring([rolling("a", "web:1", 0)]);
    await makeReady(cluster, "a");
    await cluster.runUntilIdle();
    await declare([rolling("a", "web:2", 0), rolling("b", "web:2", 1)]);
    expect(imageOf(await get(cluster, "deployment"))).toBe("web:2");
  });

  test("a field that the kind does not have is in Ready, and the other children are applied", async () => {
    const wrong = { ...configMap({}, "wrong"), daat: { a: "1" } };
    const { cluster } = await declaring([wrong, configMap({ a: "1" })]);
    expect(await conditionOf(cluster, "Ready")).toMatchObject({
      reason: "ChildInvalid",
      message: expect.stringContaining("daat") as string,
    });
    expect(await get(cluster, "configMap")).toBeDefined();
  });

  test.each([[undefined], [{}], [{ children: {} }]])(
    "compose that returns %j: Ready says so",
    async (result) => {
      const { cluster } = await open(controllerOfWebsites(() => result as never));
      await cluster.apply(website({ html: "" }));
      await cluster.advance("1s");
      expect(await conditionOf(cluster, "Ready")).toMatchObject({
        reason: "InvalidResult",
        message: "compose must return an object with a list of children, which may be empty.",
      });
    },
  );
}
