// How a pod comes onto a node and goes: sentences that hold of the sandbox and of a real API server.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { field, objectAt, parseJson, textAt } from "../json.ts";
import type { JsonObject } from "../json.ts";
import { containing, matching } from "../testing/client.ts";
import type { AnyServer } from "../testing/real-client.ts";

const pods = "/api/v1/namespaces/default/pods";
const pod = (name: string, spec: JsonObject = {}, metadata: JsonObject = {}): JsonObject => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, ...metadata },
  spec: { containers: [{ name: "main", image: "image" }], ...spec },
});
const bindingTo = (node: string, name: string, metadata: JsonObject = {}): JsonObject => ({
  apiVersion: "v1",
  kind: "Binding",
  metadata: { name, ...metadata },
  target: { apiVersion: "v1", kind: "Node", name: node },
});
const secondsFromNow = (time: string | undefined): number => (Date.parse(time ?? "") - Date.now()) / 1000;

/** The sentences, for a server that `start` brings. */
export function podContract(start: () => Promise<AnyServer>): void {
  let api: AnyServer;
  beforeAll(async () => void (api = await start()), 900_000);
  afterAll(() => api.close());

  const create = async (name: string, spec?: JsonObject, metadata?: JsonObject): Promise<JsonObject> => {
    const { code, body } = await api.call("POST", pods, pod(name, spec, metadata));
    expect(code, JSON.stringify(body)).toBe(201);
    return body;
  };
  const bind = (name: string, metadata?: JsonObject) =>
    api.call("POST", `${pods}/${name}/binding`, bindingTo("n1", name, metadata));
  const createBound = async (name: string, spec?: JsonObject, metadata?: JsonObject): Promise<JsonObject> => {
    await create(name, spec, metadata);
    await bind(name);
    return (await api.call("GET", `${pods}/${name}`)).body;
  };
  const remove = (name: string, options?: JsonObject) => api.call("DELETE", `${pods}/${name}`, options);
  const codeOf = async (name: string): Promise<number> => (await api.call("GET", `${pods}/${name}`)).code;

  describe("binding", () => {
    it("puts a pod on a node, says so in a condition, and leaves its generation alone", async () => {
      await create("bound");
      const { code, body } = await bind("bound");
      expect({ code, body }).toMatchObject({ code: 201, body: { kind: "Status", status: "Success" } });
      expect((await api.call("GET", `${pods}/bound`)).body).toMatchObject({
        metadata: { generation: 1 },
        spec: { nodeName: "n1", terminationGracePeriodSeconds: 30, restartPolicy: "Always" },
        status: {
          phase: "Pending",
          conditions: [{ type: "PodScheduled", status: "True", lastTransitionTime: matching(/Z$/) }],
        },
      });
    });

    it("happens once", async () => {
      await createBound("once");
      expect((await bind("once")).body).toMatchObject({
        code: 409,
        reason: "Conflict",
        message: containing('pod once is already assigned to node "n1"'),
        details: { name: "once", kind: "pods/binding" },
      });
    });

    it("is refused for a pod that is not there, that is another one by now, or that is named otherwise", async () => {
      expect((await bind("nobody")).body).toMatchObject({ code: 404, reason: "NotFound" });
      await create("other");
      const uid = "00000000-0000-0000-0000-000000000000";
      expect((await bind("other", { uid })).body).toMatchObject({ code: 409, reason: "Conflict" });
      const wrong = await api.call("POST", `${pods}/other/binding`, bindingTo("n1", "another"));
      expect(wrong.body).toMatchObject({
        code: 400,
        message: "name in URL does not match name in Binding object",
      });
      const nowhere = await api.call("POST", `${pods}/other/binding`, bindingTo("", "other"));
      expect(nowhere.body).toMatchObject({ code: 500, message: containing("target.name: Required value") });
    });

    it("is the only way onto a node for a pod that is there", async () => {
      const made = await create("patched");
      const moved = { ...made, spec: { ...objectAt(made, "spec"), nodeName: "n1" } };
      expect((await api.call("PUT", `${pods}/patched`, moved)).code).toBe(422);
    });
  });

  describe("deleting", () => {
    it("marks a pod on a node with the grace of its spec, counts its generation, and leaves it there", async () => {
      await createBound("graced", { terminationGracePeriodSeconds: 300 });
      const { code, body } = await remove("graced");
      expect(code).toBe(200);
      expect(body).toMatchObject({ metadata: { generation: 2, deletionGracePeriodSeconds: 300 } });
      const left = secondsFromNow(textAt(body, "metadata", "deletionTimestamp"));
      expect(left).toBeGreaterThan(290);
      expect(left).toBeLessThanOrEqual(300);
      expect(await codeOf("graced")).toBe(200);
    });

    it("takes thirty seconds where nobody says otherwise", async () => {
      await createBound("default-grace");
      const { body } = await remove("default-grace");
      expect(body).toMatchObject({ metadata: { deletionGracePeriodSeconds: 30 } });
    });

    it("shortens the grace when it is asked again, and never lengthens it", async () => {
      await createBound("shorter", { terminationGracePeriodSeconds: 300 });
      const first = await remove("shorter", { gracePeriodSeconds: 200 });
      const longer = await remove("shorter", { gracePeriodSeconds: 250 });
      expect(field(longer.body, "metadata")).toEqual(field(first.body, "metadata"));
      const unsaid = await remove("shorter");
      expect(field(unsaid.body, "metadata")).toEqual(field(first.body, "metadata"));
      const { body } = await remove("shorter", { gracePeriodSeconds: 100 });
      expect(body).toMatchObject({ metadata: { generation: 2, deletionGracePeriodSeconds: 100 } });
      const at = (object: JsonObject): number =>
        Date.parse(textAt(object, "metadata", "deletionTimestamp") ?? "");
      expect(at(first.body) - at(body)).toBe(100_000);
    });

    it("removes it with a grace of none, also when it was deleted before", async () => {
      await createBound("now");
      await createBound("later");
      await remove("later");
      for (const name of ["now", "later"]) {
        expect((await remove(name, { gracePeriodSeconds: 0 })).code).toBe(200);
        expect(await codeOf(name)).toBe(404);
      }
    });

    it("reads the grace from the query as well", async () => {
      await createBound("query");
      const { body } = await api.call("DELETE", `${pods}/query?gracePeriodSeconds=7`);
      expect(body).toMatchObject({ metadata: { deletionGracePeriodSeconds: 7 } });
    });

    it("removes at once a pod that is on no node, or has finished", async () => {
      await create("unbound");
      await createBound("finished");
      const type = { "content-type": "application/merge-patch+json" };
      const done = { status: { phase: "Succeeded" } };
      expect((await api.call("PATCH", `${pods}/finished/status`, done, type)).code).toBe(200);
      for (const name of ["unbound", "finished"]) {
        const { code, body } = await remove(name);
        expect(code).toBe(200);
        expect(body).toMatchObject({ kind: "Pod", metadata: { deletionGracePeriodSeconds: 0 } });
        expect(await codeOf(name)).toBe(404);
      }
    });

    it("is told to a watch as a change before the end", async () => {
      const { metadata } = (await api.call("GET", pods)).body as { metadata: { resourceVersion: string } };
      await create("told");
      await remove("told");
      const query = `watch=true&timeoutSeconds=1&resourceVersion=${metadata.resourceVersion}`;
      const told = await api.text(`${pods}?${query}`);
      const types = told
        .trim()
        .split("\n")
        .map((line) => textAt(parseJson(line), "type"));
      expect(types).toEqual(["ADDED", "MODIFIED", "DELETED"]);
    });

    it("refuses another uid, and a finalizer holds what has no grace left", async () => {
      const made = await createBound("held", {}, { finalizers: ["example.com/hold"] });
      const other = { preconditions: { uid: "00000000-0000-0000-0000-000000000000" }, gracePeriodSeconds: 0 };
      expect((await remove("held", other)).body).toMatchObject({ code: 409 });
      const mine = { preconditions: { uid: textAt(made, "metadata", "uid") ?? "" }, gracePeriodSeconds: 0 };
      expect((await remove("held", mine)).code).toBe(200);
      expect(await codeOf("held")).toBe(200);
      const type = { "content-type": "application/merge-patch+json" };
      await api.call("PATCH", `${pods}/held`, { metadata: { finalizers: null } }, type);
      expect(await codeOf("held")).toBe(404);
    });

    it("keeps a pod whose finalizers are gone until its grace is over", async () => {
      await createBound("waiting", {}, { finalizers: ["example.com/hold"] });
      await remove("waiting");
      const type = { "content-type": "application/merge-patch+json" };
      await api.call("PATCH", `${pods}/waiting`, { metadata: { finalizers: null } }, type);
      expect(await codeOf("waiting")).toBe(200);
    });

    it("cannot be undone by a binding", async () => {
      await create("going", {}, { finalizers: ["example.com/hold"] });
      await remove("going");
      expect((await bind("going")).body).toMatchObject({
        code: 409,
        message: containing("pod going is being deleted, cannot be assigned to a host"),
      });
    });
  });
}
