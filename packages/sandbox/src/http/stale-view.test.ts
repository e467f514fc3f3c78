import { afterEach, beforeEach, expect, it } from "vitest";
import type { StaleView } from "./stale-view.ts";
import { type Client, configMap, configMaps, fetchWith, openWatch, startClient } from "../testing/client.ts";

let client: Client;
let view: StaleView;

beforeEach(async () => {
  client = await startClient();
  view = await client.staleView();
  await client.call("POST", configMaps, configMap("old", { data: { is: "first" } }));
});
afterEach(() => client.close());

const ask = (path: string, init?: RequestInit): Promise<Response> =>
  fetchWith(client.token)(view.url + path, init);
const names = async (query = ""): Promise<string[]> => {
  const list = (await (await ask(`${configMaps}${query}`)).json()) as {
    items: { metadata: { name: string } }[];
  };
  return list.items.map(({ metadata }) => metadata.name);
};
const authorized = () => ({ authorization: `Bearer ${client.token}` });
const statusOf = async (path: string, init: RequestInit = {}): Promise<number> =>
  (await ask(path, init)).status;
const moveOn = async (): Promise<void> => {
  await client.call("POST", configMaps, configMap("new"));
  await client.patch(`${configMaps}/old`, { data: { is: "second" } });
  await client.call("POST", configMaps, configMap("gone"));
  await client.call("DELETE", `${configMaps}/gone`);
};

it("a view shows what there is, until it is frozen; then the past", async () => {
  expect(await names()).toEqual(["old"]);
  view.freeze();
  await moveOn();
  expect([await names(), await names("?resourceVersion=0"), await names("?limit=1")]).toEqual([
    ["old"],
    ["old"],
    ["old"],
  ]);
  expect(await (await ask(`${configMaps}/old`)).json()).toMatchObject({ data: { is: "first" } });
  expect(await statusOf(`${configMaps}/new`)).toBe(404);
  expect((await client.call("GET", `${configMaps}/new`)).code).toBe(200);
});

it("a version that came after the freeze has not happened there", async () => {
  view.freeze();
  await moveOn();
  expect(await statusOf(`${configMaps}?resourceVersion=${client.resourceVersion}`)).toBe(504);
});

it("a frozen view takes no writes", async () => {
  view.freeze();
  expect(await statusOf(`${configMaps}/old`, { method: "DELETE" })).toBe(504);
  expect((await client.call("GET", `${configMaps}/old`)).code).toBe(200);
});

it("a watch stands still while it is frozen, and then emits all changes that it has missed", async () => {
  const before = await openWatch(
    `${view.url}${configMaps}?watch=true&resourceVersion=${client.resourceVersion}`,
    authorized(),
  );
  view.freeze();
  await moveOn();
  const during = await openWatch(`${view.url}${configMaps}?watch=true`, authorized());
  expect(await during.next()).toMatchObject({ type: "ADDED", object: { data: { is: "first" } } });
  view.thaw();
  for (const watch of [before, during]) {
    const emitted = await watch.until(({ type }) => type === "DELETED");
    expect(emitted.map(({ type }) => type)).toEqual(["ADDED", "MODIFIED", "ADDED", "DELETED"]);
    watch.stop();
  }
  expect(await names()).toEqual(["new", "old"]);
});
