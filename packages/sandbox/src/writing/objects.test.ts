// These have no judge in a real API server: the clock of timestamps, the work of controllers, and the limit of bodies.
import { expect, it } from "vitest";
import { field } from "../json.ts";
import { configMap, configMaps, clientOfFile } from "../testing/client.ts";

const api = await clientOfFile({ now: () => new Date("2030-01-02T03:04:05.678Z") });

it("the clock decides when an object was created and deleted, and when a pod is gone", async () => {
  const held = { metadata: { name: "held", finalizers: ["a.io/1"] } };
  const { body: made } = await api.call("POST", configMaps, held);
  expect(field(made, "metadata", "creationTimestamp")).toBe("2030-01-02T03:04:05Z");
  const { body } = await api.call("DELETE", `${configMaps}/held`);
  expect(field(body, "metadata", "deletionTimestamp")).toBe("2030-01-02T03:04:05Z");
  const pods = "/api/v1/namespaces/default/pods";
  await api.call("POST", pods, { metadata: { name: "p" }, spec: { terminationGracePeriodSeconds: 300 } });
  const binding = { apiVersion: "v1", kind: "Binding", metadata: { name: "p" }, target: { name: "n" } };
  expect((await api.call("POST", `${pods}/p/binding`, binding)).code).toBe(201);
  const ends = async (options: object): Promise<unknown> =>
    field((await api.call("DELETE", `${pods}/p`, { ...options })).body, "metadata", "deletionTimestamp");
  expect([await ends({}), await ends({ gracePeriodSeconds: 100 })]).toEqual([
    "2030-01-02T03:09:05Z",
    "2030-01-02T03:05:45Z",
  ]);
});

it("a deleted namespace takes its content along, and waits for what is held", async () => {
  const home = "/api/v1/namespaces/short";
  await api.call("POST", "/api/v1/namespaces", { metadata: { name: "short" } });
  await api.call("POST", `${home}/configmaps`, configMap("free"));
  await api.call("POST", `${home}/configmaps`, { metadata: { name: "held", finalizers: ["a.io/x"] } });
  const { body } = await api.call("DELETE", home);
  expect(body).toMatchObject({ kind: "Namespace", status: { phase: "Terminating" } });
  expect((await api.call("GET", `${home}/configmaps/free`)).code).toBe(404);
  await api.patch(`${home}/configmaps/held`, { metadata: { finalizers: [] } });
  expect((await api.call("GET", home)).code).toBe(404);
});

it("a body has a limit, also without a Content-Length", async () => {
  const chunks = Array.from({ length: 4 }, () => new Uint8Array(1024 * 1024));
  const headers = { "content-type": "application/json" };
  const streamed = { method: "POST", body: ReadableStream.from(chunks), duplex: "half", headers } as const;
  expect((await api.fetch(configMaps, streamed)).status).toBe(413);
});
