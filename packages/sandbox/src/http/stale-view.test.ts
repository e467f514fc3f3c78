import { afterEach, beforeEach, expect, it } from "vitest";
import type { StaleView } from "./stale-view.ts";
import { listAt, objectAt } from "../json.ts";
import { nameOf } from "../kube-object.ts";
import { configMap, configMaps, requestsTo, startClient } from "../testing/client.ts";
import type { Client, Requests } from "../testing/client.ts";

let client: Client;
let view: StaleView & Requests;

beforeEach(async () => {
  client = await startClient();
  const stale = await client.staleView();
  view = { ...stale, ...requestsTo(stale.url, client.token) };
  await client.call("POST", configMaps, configMap("old", { data: { is: "first" } }));
});
afterEach(() => client.close());

const names = async (query = ""): Promise<string[]> =>
  listAt((await view.call("GET", `${configMaps}${query}`)).body, "items").map((one) => nameOf(objectAt(one)));
const codeOf = async (path: string, method = "GET"): Promise<number> => (await view.call(method, path)).code;
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
  expect((await view.call("GET", `${configMaps}/old`)).body).toMatchObject({ data: { is: "first" } });
  expect(await codeOf(`${configMaps}/new`)).toBe(404);
  expect((await client.call("GET", `${configMaps}/new`)).code).toBe(200);
});

it("a version that came after the freeze has not happened there", async () => {
  view.freeze();
  await moveOn();
  expect(await codeOf(`${configMaps}?resourceVersion=${client.resourceVersion}`)).toBe(504);
});

it("a frozen view takes no writes", async () => {
  view.freeze();
  expect(await codeOf(`${configMaps}/old`, "DELETE")).toBe(504);
  expect((await client.call("GET", `${configMaps}/old`)).code).toBe(200);
});

it("a watch stands still while it is frozen, and then emits all changes that it has missed", async () => {
  const before = await view.watch(`${configMaps}?resourceVersion=${client.resourceVersion}`);
  view.freeze();
  await moveOn();
  const during = await view.watch(configMaps);
  expect(await during.next()).toMatchObject({ type: "ADDED", object: { data: { is: "first" } } });
  view.thaw();
  for (const watch of [before, during]) {
    const emitted = await watch.until(({ type }) => type === "DELETED");
    expect(emitted.map(({ type }) => type)).toEqual(["ADDED", "MODIFIED", "ADDED", "DELETED"]);
    watch.stop();
  }
  expect(await names()).toEqual(["new", "old"]);
});
