import { describe, expect, test } from "vitest";
import { composedClusters, conditionOf, configMap, get } from "./contract/clusters.contract.ts";
import { composeContract } from "./contract/compose.contract.ts";
import { controllerOfWebsites, owns, website } from "./website.fixture.ts";

describe("on the sandbox", () => composeContract(() => undefined));

// On a server that tests share, the kit lists the owned kinds, to remove their objects.
describe("on the sandbox, an owned kind that the server does not serve", () => {
  const { open } = composedClusters(() => undefined);
  const kind = {
    group: "example.com",
    version: "v1",
    kind: "Absent",
    plural: "absents",
    scope: "Namespaced",
  } as const;
  const absent = { apiVersion: "example.com/v1", kind: "Absent", metadata: { name: "a" } };
  test.each([
    ["is not missed if none is declared", [], "Reconciled"],
    ["is in Ready, and the other children are applied", [absent], "ChildNotServed"],
  ])("%s", async (_, declared, reason) => {
    const children = [...declared, configMap({ a: "1" })];
    const { cluster } = await open(controllerOfWebsites(() => ({ children }), { owns: [...owns, { kind }] }));
    await cluster.apply(website({ html: "" }));
    await cluster.advance("1s");
    expect(await get(cluster, "configMap")).toBeDefined();
    expect(await conditionOf(cluster, "Ready")).toMatchObject({ reason });
  });
});
