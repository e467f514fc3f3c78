import type { Child } from "@drover/controller";
import { builtin, kindOf } from "@drover/kube";
import { describe, expect, test } from "vitest";
import { composedClusters, conditionOf, configMap, get, type Servers } from "./clusters.contract.ts";
import { controllerOfWebsites, kinds, owns, website } from "../website.fixture.ts";

/** The promises about what a function declares by mistake. */
export function invalidContract(servers: () => Servers): void {
  const { open } = composedClusters(servers);

  describe("a declaration that is not valid", () => {
    test.each<[string, readonly unknown[], RegExp]>([
      [
        "another kind",
        [{ apiVersion: "v1", kind: "Pod", metadata: { name: "a" } }],
        /children\[0\] is of the kind v1 Pod.*It owns v1 ConfigMap/,
      ],
      ["no name", [{ ...kinds.configMap, metadata: {} }], /children\[0\] is not valid: [^]*metadata.name/],
      ["a slash in the name", [configMap({}, "a/b")], /children\[0\] has no valid name/],
      [
        "another namespace",
        [{ ...kinds.configMap, metadata: { name: "a", namespace: "other" } }],
        /is in the namespace other.* leave namespace out, or set acrossNamespaces in owns for ConfigMap/,
      ],
      [
        "a kind without namespaces",
        [{ apiVersion: "v1", kind: "Node", metadata: { name: "a" } }],
        /is cluster-scoped, and its parent is not: set acrossNamespaces in owns for Node/,
      ],
      ["an owner", [{ ...kinds.configMap, metadata: { name: "a", ownerReferences: [] } }], /ownerReferences/],
      [
        "Drover's labels",
        [{ ...kinds.configMap, metadata: { name: "a", labels: { "drover.dev/x": "1" } } }],
        /Drover's own/,
      ],
      ["the same child twice", [configMap({}), configMap({ a: "1" })], /ConfigMap a is declared twice/],
      [
        "too much",
        Array.from({ length: 5 }, (_, i) => configMap({ large: "x".repeat(2 ** 20 - 1_000) }, `l${i}`)),
        /declares children of 5 MiB; at most 4 MiB are possible/,
      ],
      ["an unknown setting", [{ object: configMap({}), wafe: 1 }], /wafe/],
      ["text", ["text"], /children\[0\] is not valid/],
      ["a Map", [{ ...configMap({}), data: new Map([["a", "1"]]) }], /children\[0\].data is a Map/],
      ["NaN", [{ object: { ...configMap({}), data: { a: Number.NaN } } }], /object.data.a is NaN/],
      ["nothing", [null], /children\[0\] is not valid/],
    ])("%s: Ready says so, and nothing is written", async (_, children, message) => {
      const { cluster } = await open(
        controllerOfWebsites(() => ({ children: children as readonly Child[] }), {
          owns: [...owns, { kind: kindOf(builtin.node) }],
        }),
      );
      await cluster.apply(website({ html: "" }));
      await cluster.advance("1s");
      expect(await conditionOf(cluster, "Ready")).toMatchObject({
        status: "False",
        reason: "InvalidResult",
        message: expect.stringMatching(message) as string,
      });
      expect(await get(cluster, "configMap")).toBeUndefined();
    });
  });
}
