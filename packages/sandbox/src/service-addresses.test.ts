import { afterAll, beforeAll, expect, it } from "vitest";
import { textAt } from "./json.ts";
import type { JsonObject } from "./json.ts";
import { containing, startClient } from "./testing/client.ts";
import type { Client } from "./testing/client.ts";

let api: Client;
beforeAll(async () => void (api = await startClient()));
afterAll(() => api.close());

const services = "/api/v1/namespaces/default/services";
const create = async (name: string, spec: JsonObject = {}): Promise<string> => {
  const { body } = await api.call("POST", services, { metadata: { name }, spec: { ports: [], ...spec } });
  return textAt(body, "spec", "clusterIP") ?? "";
};

it("gives every Service an address of its own on loopback", async () => {
  const given = await Promise.all(["a", "b", "c", "d"].map((name) => create(name)));
  expect(new Set(given).size).toBe(4);
  for (const one of given) expect(one).toMatch(/^127\.1\.\d+\.\d+$/);
});

it("leaves those alone that say None, name their own, or are of another type", async () => {
  expect(await create("none", { clusterIP: "None" })).toBe("None");
  expect(await create("own", { clusterIP: "127.1.9.9" })).toBe("127.1.9.9");
  expect(await create("external", { type: "ExternalName", externalName: "example.com" })).toBe("");
});

it("keeps an address over a replacement that does not name it, and refuses another", async () => {
  const address = await create("kept");
  const replaced = await api.call("PUT", `${services}/kept`, {
    metadata: { name: "kept" },
    spec: { ports: [] },
  });
  expect(textAt(replaced.body, "spec", "clusterIP")).toBe(address);
  const moved = await api.patch(`${services}/kept`, { spec: { clusterIP: "127.1.8.8" } });
  expect(moved.body).toMatchObject({ code: 422, message: containing("may not change once set") });
});
