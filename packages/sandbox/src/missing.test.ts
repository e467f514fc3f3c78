import { afterAll, beforeAll, expect, it } from "vitest";
import { containing, startClient } from "./testing/client.ts";
import type { Client } from "./testing/client.ts";

let api: Client;
beforeAll(async () => void (api = await startClient()));
afterAll(() => api.close());

it.each([
  ["pods", "log exec attach portforward proxy ephemeralcontainers", "test it in tests/cluster"],
  ["services", "proxy", "test it in tests/cluster"],
  ["pods", "eviction resize", "test it against a real one"],
  ["serviceaccounts", "token", "test it against a real one"],
])("answers 501 for %s/%s, and says where to test that", async (plural, subresources, where) => {
  for (const one of subresources.split(" ")) {
    const { body } = await api.call("GET", `/api/v1/namespaces/default/${plural}/x/${one}`);
    expect(body).toMatchObject({ code: 501, message: containing(`${plural}/${one}, which`) });
    expect(body).toMatchObject({ message: containing(where) });
  }
});
