// What goes with its owner: sentences that hold of the sandbox, and of a real API server with the garbage collector of
// kube-controller-manager, which takes its time.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listAt, objectAt } from "../json.ts";
import type { JsonObject } from "../json.ts";
import { finalizersOf, nameOf, uidOf } from "../kube-object.ts";
import type { AnyServer } from "../testing/real-client.ts";

const mapsIn = (namespace: string): string => `/api/v1/namespaces/${namespace}/configmaps`;
const here = mapsIn("default");
const merge = { "content-type": "application/merge-patch+json" };

const refersTo = (owner: JsonObject, more: JsonObject = {}): JsonObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  name: nameOf(owner),
  uid: uidOf(owner),
  ...more,
});

interface Maps {
  create(
    name: string,
    owners?: readonly JsonObject[],
    metadata?: JsonObject,
    at?: string,
  ): Promise<JsonObject>;
  remove(name: string, policy?: string): Promise<JsonObject>;
  get(name: string): Promise<JsonObject>;
  code(name: string, at?: string): Promise<number>;
  release(name: string): Promise<unknown>;
}

function mapsOf(server: () => AnyServer): Maps {
  return {
    async create(name, ownerReferences = [], metadata = {}, at = here) {
      const object = {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name, ownerReferences, ...metadata },
      };
      const { code, body } = await server().call("POST", at, object);
      expect(code, JSON.stringify(body)).toBe(201);
      return body;
    },
    async remove(name, propagationPolicy) {
      const options = propagationPolicy === undefined ? {} : { propagationPolicy };
      return (await server().call("DELETE", `${here}/${name}`, options)).body;
    },
    get: async (name) => (await server().call("GET", `${here}/${name}`)).body,
    code: async (name, at = here) => (await server().call("GET", `${at}/${name}`)).code,
    release: (name) => server().call("PATCH", `${here}/${name}`, { metadata: { finalizers: null } }, merge),
  };
}

/** The sentences, for a server with a collector that `start` brings. */
export function garbageCollectionContract(start: () => Promise<AnyServer>): void {
  let api: AnyServer;
  beforeAll(async () => void (api = await start()), 900_000);
  afterAll(() => api.close());
  const maps = mapsOf(() => api);
  const gone = (name: string, at?: string) => expect.poll(() => maps.code(name, at)).toBe(404);
  const owned = (name: string, owner: JsonObject, more?: JsonObject, metadata?: JsonObject) =>
    maps.create(name, [refersTo(owner, more)], metadata);
  let beacons = 0;
  /** Until the collector has seen all that was done before: it takes things in order. */
  const attended = async (): Promise<void> => {
    beacons += 1;
    const name = `beacon-${beacons}`;
    await maps.create(name, [{ apiVersion: "v1", kind: "ConfigMap", name: "nobody", uid: "nobody" }]);
    await gone(name);
  };

  describe("deleting an owner", () => {
    it("in the background takes what it owns, and what that owns", async () => {
      const owner = await maps.create("back");
      const child = await owned("back-child", owner);
      await owned("back-grandchild", child);
      expect(await maps.remove("back", "Background")).toMatchObject({ status: "Success" });
      expect(await maps.code("back")).toBe(404);
      await gone("back-child");
      await gone("back-grandchild");
    });

    it("without a policy does so, too", async () => {
      await owned("plain-child", await maps.create("plain"));
      await maps.remove("plain");
      await gone("plain-child");
    });

    it("in the foreground comes after those that block it", async () => {
      const owner = await maps.create("fore");
      const held = { finalizers: ["example.com/hold"] };
      await owned("fore-child", owner, { blockOwnerDeletion: true }, held);
      const marked = await maps.remove("fore", "Foreground");
      expect(finalizersOf(marked)).toEqual(["foregroundDeletion"]);
      await expect
        .poll(async () => objectAt(await maps.get("fore-child"), "metadata")["deletionTimestamp"])
        .toBeDefined();
      await attended();
      expect(await maps.code("fore")).toBe(200);
      await maps.release("fore-child");
      await gone("fore");
    });

    it("in the foreground does not wait for those that do not", async () => {
      const owner = await maps.create("free");
      const held = { finalizers: ["example.com/hold"] };
      await owned("free-child", owner, {}, held);
      await maps.remove("free", "Foreground");
      await gone("free");
      await maps.release("free-child");
      await gone("free-child");
    });

    it("in the foreground goes down the whole tree first", async () => {
      const owner = await maps.create("tree");
      const blocks = { blockOwnerDeletion: true };
      const child = await owned("tree-child", owner, blocks);
      await owned("tree-leaf", child, blocks, { finalizers: ["example.com/hold"] });
      await maps.remove("tree", "Foreground");
      await expect
        .poll(async () => finalizersOf(await maps.get("tree-child")))
        .toEqual(["foregroundDeletion"]);
      expect(await maps.code("tree")).toBe(200);
      await maps.release("tree-leaf");
      await gone("tree");
      expect(await maps.code("tree-child")).toBe(404);
    });

    it("orphaning leaves what it owned, without it", async () => {
      const owner = await maps.create("lost");
      await owned("lost-child", owner);
      await maps.remove("lost", "Orphan");
      await gone("lost");
      const child = await maps.get("lost-child");
      expect(child).toMatchObject({ kind: "ConfigMap" });
      expect(listAt(child, "metadata", "ownerReferences")).toEqual([]);
    });

    it("leaves what another owns, and takes its name off", async () => {
      const [one, two] = [await maps.create("one"), await maps.create("two")];
      await maps.create("both", [refersTo(one), refersTo(two)]);
      await maps.remove("one");
      await expect
        .poll(async () => listAt(await maps.get("both"), "metadata", "ownerReferences"))
        .toEqual([refersTo(two)]);
      await maps.remove("two");
      await gone("both");
    });
  });

  describe("an owner that is not there", () => {
    it("takes what names it along, also when another has its name", async () => {
      const owner = await maps.create("again");
      await owned("again-child", owner, { uid: "00000000-0000-0000-0000-000000000000" });
      await gone("again-child");
      expect(await maps.code("again")).toBe(200);
    });

    it("is looked for in the namespace of what names it, and nowhere else", async () => {
      const owner = await maps.create("home");
      await owned("home-child", owner);
      const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "abroad" } };
      await api.call("POST", "/api/v1/namespaces", namespace);
      await maps.create("abroad-child", [refersTo(owner)], {}, mapsIn("abroad"));
      await gone("abroad-child", mapsIn("abroad"));
      expect(await maps.code("home-child")).toBe(200);
    });

    it("of a kind that is not served is not known to be gone", async () => {
      const strange = { apiVersion: "example.com/v9", kind: "Nothing", name: "x", uid: "x" };
      await maps.create("strange", [strange]);
      await attended();
      expect(await maps.code("strange")).toBe(200);
    });
  });
}
