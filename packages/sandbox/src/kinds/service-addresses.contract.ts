// Which address a Service has: sentences that hold of the sandbox and of a real API server with the same range.
import { afterAll, beforeAll, expect, it } from "vitest";
import { field, objectAt, textAt } from "../json.ts";
import type { JsonObject } from "../json.ts";
import { containing } from "../testing/client.ts";
import type { AnyServer } from "../testing/real-client.ts";

const services = "/api/v1/namespaces/default/services";
const service = (name: string, spec: JsonObject = {}): JsonObject => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name },
  spec: { ports: [{ port: 80 }], ...spec },
});

/** The sentences, for a server that `start` brings. */
export function serviceAddressContract(start: () => Promise<AnyServer>): void {
  let api: AnyServer;
  beforeAll(async () => void (api = await start()), 900_000);
  afterAll(() => api.close());

  const create = async (name: string, spec?: JsonObject): Promise<JsonObject> => {
    const { code, body } = await api.call("POST", services, service(name, spec));
    expect(code, JSON.stringify(body)).toBe(201);
    return objectAt(body, "spec");
  };

  it("gives every Service an address of its own on loopback", async () => {
    const given = await Promise.all(["a", "b", "c", "d"].map((name) => create(name)));
    expect(new Set(given.map((spec) => textAt(spec, "clusterIP"))).size).toBe(4);
    for (const spec of given) {
      expect(textAt(spec, "clusterIP")).toMatch(/^127\.1\.\d+\.\d+$/);
      expect(field(spec, "clusterIPs")).toEqual([field(spec, "clusterIP")]);
    }
  });

  it("leaves those alone that say None, name their own, or are of another type", async () => {
    expect(await create("none", { clusterIP: "None" })).toMatchObject({ clusterIP: "None" });
    expect(await create("own", { clusterIP: "127.1.9.9" })).toMatchObject({ clusterIP: "127.1.9.9" });
    const external = await create("external", { type: "ExternalName", externalName: "example.com" });
    expect(field(external, "clusterIP")).toBeUndefined();
  });

  it("keeps an address over a replacement that does not name it, and refuses another", async () => {
    const { clusterIP } = await create("kept");
    const replaced = await api.call("PUT", `${services}/kept`, service("kept"));
    expect(field(replaced.body, "spec", "clusterIP")).toBe(clusterIP);
    const moved = await api.call("PUT", `${services}/kept`, service("kept", { clusterIP: "127.1.8.8" }));
    expect(moved.body).toMatchObject({ code: 422, message: containing("may not change once set") });
  });
}
