// Scales of Deployments and of custom resources: sentences that hold of the sandbox and of a real API server.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listAt, objectAt, textAt } from "./json.ts";
import type { Json, JsonObject } from "./json.ts";
import { containing, widget, widgets } from "./testing/client.ts";
import { defineWidgets } from "./testing/contract-kinds.ts";
import type { AnyServer, Reply } from "./testing/real-client.ts";

const deployments = "/apis/apps/v1/namespaces/default/deployments";
const merge = { "content-type": "application/merge-patch+json", "user-agent": "tester/1" };
const applying = { "content-type": "application/apply-patch+yaml" };

const deployment = (name: string, spec: JsonObject = {}): JsonObject => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name },
  spec: {
    selector: {
      matchLabels: { app: "x" },
      matchExpressions: [
        { key: "tier", operator: "NotIn", values: ["b", "a"] },
        { key: "app", operator: "Exists" },
      ],
    },
    template: { metadata: { labels: { app: "x" } }, spec: { containers: [{ name: "main", image: "i:1" }] } },
    ...spec,
  },
});
const scaleTo = (name: string, replicas: Json, metadata: JsonObject = {}): JsonObject => ({
  apiVersion: "autoscaling/v1",
  kind: "Scale",
  spec: { replicas },
  metadata: { name, namespace: "default", ...metadata },
});

/** The sentences, for a server that `start` brings. */
export function scaleContract(start: () => Promise<AnyServer>): void {
  let api: AnyServer;
  beforeAll(async () => {
    api = await start();
    await defineWidgets(api);
  }, 900_000);
  afterAll(() => api.close());

  const get = async (path: string): Promise<JsonObject> => (await api.call("GET", path)).body;
  const create = async (path: string, body: JsonObject): Promise<JsonObject> => {
    const reply = await api.call("POST", path, body);
    expect(reply.code, JSON.stringify(reply.body)).toBe(201);
    return reply.body;
  };
  const patch = (path: string, body: Json): Promise<Reply> => api.call("PATCH", `${path}/scale`, body, merge);
  const put = (path: string, body: JsonObject): Promise<Reply> => api.call("PUT", `${path}/scale`, body);

  describe("the scale of a Deployment", () => {
    it("tells its replicas and its selector, and names it", async () => {
      const { metadata } = await create(deployments, deployment("told"));
      const [name, namespace] = ["told", "default"];
      const { uid, resourceVersion, creationTimestamp } = objectAt({ metadata: metadata ?? {} }, "metadata");
      expect(await get(`${deployments}/told/scale`)).toEqual({
        kind: "Scale",
        apiVersion: "autoscaling/v1",
        metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
        spec: { replicas: 1 },
        status: { replicas: 0, selector: "app=x,app,tier notin (a,b)" },
      });
    });

    it("is written by PUT and PATCH, and counts as a generation of the Deployment", async () => {
      const path = `${deployments}/written`;
      await create(deployments, deployment("written"));
      expect((await patch(path, { spec: { replicas: 3 } })).body).toMatchObject({ spec: { replicas: 3 } });
      expect(await get(path)).toMatchObject({ spec: { replicas: 3 }, metadata: { generation: 2 } });
      expect((await put(path, scaleTo("written", 0))).body).toMatchObject({ spec: {} });
      expect(await get(path)).toMatchObject({ spec: { replicas: 0 }, metadata: { generation: 3 } });
      await patch(path, { spec: { replicas: 0 } });
      expect(await get(path)).toMatchObject({ metadata: { generation: 3 } });
    });

    it("is written against a version when it has one, and against a uid", async () => {
      const made = await create(deployments, deployment("versioned"));
      const path = `${deployments}/versioned`;
      const resourceVersion = textAt(made, "metadata", "resourceVersion") ?? "";
      expect((await put(path, scaleTo("versioned", 2, { resourceVersion }))).code).toBe(200);
      expect((await put(path, scaleTo("versioned", 3, { resourceVersion }))).body).toMatchObject({
        code: 409,
        reason: "Conflict",
        details: { kind: "deployments", group: "apps" },
        message: containing("the object has been modified"),
      });
      const other = await put(path, scaleTo("versioned", 3, { uid: "other" }));
      expect(other.body).toMatchObject({ code: 409, message: containing("Precondition failed: UID") });
    });

    it("is refused for negative replicas, another name, and what is not there", async () => {
      await create(deployments, deployment("refused"));
      const path = `${deployments}/refused`;
      expect((await put(path, scaleTo("refused", -1))).body).toMatchObject({
        code: 422,
        message:
          'Scale.autoscaling "refused" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0',
      });
      expect((await put(path, scaleTo("else", 1))).code).toBe(400);
      expect((await patch(`${deployments}/nobody`, { spec: { replicas: 1 } })).body).toMatchObject({
        code: 404,
        message: 'deployments.apps "nobody" not found',
      });
      expect((await api.call("GET", `${deployments}/nobody/scale`)).code).toBe(404);
      expect((await api.call("DELETE", `${path}/scale`)).code).toBe(405);
    });

    it("takes the replicas from their owner, under its own subresource and without a time", async () => {
      const path = `${deployments}/taken`;
      const applied = deployment("taken", { replicas: 1 });
      await api.call("PATCH", `${path}?fieldManager=a`, applied, applying);
      await patch(path, { spec: { replicas: 2 } });
      const owners = listAt(await get(path), "metadata", "managedFields");
      expect(owners).toContainEqual({
        manager: "tester",
        operation: "Update",
        subresource: "scale",
        apiVersion: "apps/v1",
        fieldsType: "FieldsV1",
        fieldsV1: { "f:spec": { "f:replicas": {} } },
      });
      const again = await api.call("PATCH", `${path}?fieldManager=a`, applied, applying);
      expect(again.body).toMatchObject({
        code: 409,
        message: containing('conflict with "tester" with subresource "scale" using apps/v1: .spec.replicas'),
      });
    });

    it("is applied, and conflicts, like any object", async () => {
      const path = `${deployments}/applied`;
      await api.call("PATCH", `${path}?fieldManager=a`, deployment("applied", { replicas: 1 }), applying);
      const apply = (query: string) =>
        api.call("PATCH", `${path}/scale?fieldManager=b${query}`, scaleTo("applied", 2), applying);
      expect((await apply("")).body).toMatchObject({
        code: 409,
        message: 'Apply failed with 1 conflict: conflict with "a": .spec.replicas',
      });
      expect((await apply("&force=true")).body).toMatchObject({ spec: { replicas: 2 } });
    });
  });

  describe("the scale of a custom resource", () => {
    it("maps the paths of its definition", async () => {
      await create(widgets, widget("mapped", { size: 2 }));
      const path = `${widgets}/mapped`;
      await api.call("PATCH", `${path}/status`, { status: { seen: 1, pods: "app=x" } }, merge);
      expect(await get(`${path}/scale`)).toMatchObject({
        spec: { replicas: 2 },
        status: { replicas: 1, selector: "app=x" },
      });
      await patch(path, { spec: { replicas: 5 } });
      expect(await get(path)).toMatchObject({ spec: { size: 5 }, metadata: { generation: 2 } });
    });

    it("is not there while it has no replicas, but can be written", async () => {
      await create(widgets, widget("bare", {}));
      const path = `${widgets}/bare`;
      expect((await api.call("GET", `${path}/scale`)).body).toMatchObject({
        code: 500,
        message: containing('the spec replicas field ".spec.size" does not exist'),
      });
      expect((await patch(path, { metadata: { labels: { a: "b" } } })).body).toMatchObject({
        code: 400,
        message: 'the spec replicas field ".spec.size" cannot be empty',
      });
      expect((await patch(path, { spec: { replicas: 4 } })).body).toMatchObject({ spec: { replicas: 4 } });
    });

    it("has no negative count, wherever it is written", async () => {
      await create(widgets, widget("negative", { size: 1 }));
      const message = containing(".spec.size: Invalid value: -1: should be a non-negative integer");
      expect((await patch(`${widgets}/negative`, { spec: { replicas: -1 } })).body).toMatchObject({
        message,
      });
      const direct = await api.call("PATCH", `${widgets}/negative`, { spec: { size: -1 } }, merge);
      expect(direct.body).toMatchObject({ code: 422, message });
    });
  });
}
