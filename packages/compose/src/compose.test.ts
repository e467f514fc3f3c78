import { type Compose, objectKey } from "@drover/controller";
import { builtin, installCrd, refOf } from "@drover/kube";
import { describe, expect, test } from "vitest";
import { composedClusters, conditionOf, configMap, get } from "./contract/clusters.contract.ts";
import { composeContract } from "./contract/compose.contract.ts";
import {
  controllerOfWebsites,
  owns,
  ownsEverywhere,
  type Website,
  website,
  websiteKind,
} from "./website.fixture.ts";

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

  const names = { kind: kind.kind, plural: kind.plural, singular: "absent" };
  const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
  const version = (name: string, served: boolean, storage: boolean) => ({ name, served, storage, schema });
  const crd = {
    metadata: { name: "absents.example.com" },
    spec: { group: kind.group, scope: kind.scope, names, versions: [version("v1", true, true)] },
  };
  const elsewhere = { ...absent, metadata: { name: "a", namespace: "kube-system" } };

  test.each([
    ["holds a parent with children of the kind elsewhere, until it is served again", true],
    ["lets a parent go with them when its CRD is deleted", false],
  ])("%s", async (_, stays) => {
    const owned = [{ kind, acrossNamespaces: true }, ...ownsEverywhere.slice(0, 1)];
    const page = { ...configMap({}), metadata: { name: "a", namespace: "kube-system" } };
    const compose: Compose<typeof Website> = ({ spec }) => ({
      children: spec.public ? [elsewhere, page] : [page],
    });
    const { cluster, client } = await open(controllerOfWebsites(compose, { owns: owned }));
    await installCrd(client, crd);
    await cluster.apply(website({ html: "", public: true }));
    await cluster.advance("1m");
    const key = objectKey(elsewhere.metadata);
    expect(await client.get(refOf(kind), key)).toBeDefined();
    const serve = (served: boolean) => {
      const versions = [version("v1", served, false), version("v2", true, true)];
      return client.patch(builtin.crd, objectKey(crd.metadata), {
        type: "merge",
        body: { spec: { versions } },
      });
    };
    await serve(false);
    await cluster.apply(website({ html: "", public: false }));
    await cluster.advance("1m");
    await cluster.delete(websiteKind, "a");
    await cluster.advance("1m");
    expect(await conditionOf(cluster, "Ready")).toMatchObject({
      reason: "ChildNotServed",
      message: expect.stringMatching(
        /does not serve v1 .*: absents\.example\.com\/kube-system\/a\. Install/,
      ) as string,
    });
    expect(await client.get(builtin.configMap, key)).toBeUndefined();
    if (stays) await serve(true);
    else await client.delete(builtin.crd, objectKey(crd.metadata));
    await cluster.advance("1m");
    expect(await cluster.get(websiteKind, "a")).toBeUndefined();
    if (stays) expect(await client.get(refOf({ ...kind, version: "v2" }), key)).toBeUndefined();
  });
});
