import { ReconcileFunction } from "@drover/controller";
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { declaredHook, hookOf, hooksIn, secretRef } from "./hook.fixture.ts";
import { hooksOf } from "./hook.ts";

const hmac = { secretRef, header: "X-Hub-Signature-256" };
const other = { ...secretRef, key: "other" };

it("fills in the defaults", () => {
  expect(hookOf({ verify: { hmac } })).toMatchObject({
    name: "s3",
    address: "web/sites/s3",
    controller: "web/sites/u",
    functionNamespace: "web",
    secretRef,
    reach: ["web"],
    verify: { by: "hmac", header: "X-Hub-Signature-256", algorithm: "sha256", prefix: "", encoding: "hex" },
  });
  expect(hookOf({}, { home: null }).reach).toBeUndefined();
});

it.each<[string, object, RegExp]>([
  [
    "no way to verify",
    { verify: {} },
    /hooks\[0\]\.verify: give exactly one of standardWebhooks, hmac and bearer/,
  ],
  ["two ways", { verify: { hmac, bearer: { secretRef } } }, /verify: give exactly one/],
  [
    "SHA-1",
    { verify: { hmac: { ...hmac, algorithm: "sha1" } } },
    /give sha256 or sha512; SHA-1 is no longer trusted/,
  ],
  [
    "a namespace of a value that names no object",
    { names: { field: "a", heldBy: "spec.b", namespace: "web" } },
    /names\.namespace: with heldBy/,
  ],
  [
    "an invalid path of values",
    { names: { field: "a", heldBy: "spec..b" } },
    /names\.heldBy: "spec\.\.b" is no/,
  ],
  ["an id for a scheme that signs its own", { id: { header: "x-id" } }, /webhook-id. Leave it out/],
  ["an id nowhere", { verify: { hmac }, id: {} }, /id: give exactly one of field and header/],
  ["names nowhere", { names: {} }, /names: give exactly one of field and header/],
  [
    "names at two places",
    { names: { field: "a", header: "b" }, verify: { bearer: { secretRef } } },
    /exactly one/,
  ],
  [
    "names in a header that standardWebhooks does not sign",
    { names: { header: "ce-subject" } },
    /standardWebhooks does not sign this header/,
  ],
  [
    "names in a header that an HMAC does not sign",
    { names: { header: "ce-subject" }, verify: { hmac } },
    /hmac does not sign this header/,
  ],
  ["an invalid path of names", { names: { field: "a..b" } }, /names\.field: "a\.\.b" is not a field path/],
  [
    "another namespace",
    { names: { field: "a", namespace: "other" } },
    /may not wake objects in the namespace other/,
  ],
  ["a name that cannot be part of a URL", { name: "a/b" }, /DNS label/],
  [
    "a secret outside of its folder",
    { verify: { bearer: { secretRef: { name: "a", key: "../b" } } } },
    /Secret's key/,
  ],
  [
    "a Secret outside of its folder",
    { verify: { bearer: { secretRef: { name: "..", key: "b" } } } },
    /Secret's name/,
  ],
  ["an unknown field", { verfy: {} }, /verfy/],
])("refuses %s", (_what, more, message) => {
  expect(() => hookOf(more)).toThrow(message);
});

it("refuses namespaces of a cluster-scoped kind, and names across namespaces without a grant", () => {
  const own = { scope: "Cluster" };
  expect(() => hookOf({}, { own })).toThrow(
    /in no namespace, so also not in that of the function. Give acrossNamespaces/,
  );
  const names = { field: "a", namespace: "web", acrossNamespaces: true };
  expect(() => hookOf({ names }, { own })).toThrow(/a cluster-scoped kind has none/);
  expect(hookOf({}, { own, home: null }).reach).toBeUndefined();
});

it("refuses two hooks of one name or one secret: an event for one must not be valid for the other", () => {
  const second = { ...declaredHook, name: "git", verify: { standardWebhooks: { secretRef: other } } };
  expect(hooksIn([declaredHook, second])).toHaveLength(2);
  expect(() => hooksIn([declaredHook, { ...second, name: "s3" }])).toThrow(
    /hooks\[1\]\.name: there is another hook s3/,
  );
  expect(() => hooksIn([declaredHook, { ...declaredHook, name: "git" }])).toThrow(
    /hooks\[1\]\.verify: another hook has the same/,
  );
});

it("refuses more than twenty", () => {
  const many = Array.from({ length: 21 }, (_, i) => ({ ...declaredHook, name: `s${i}` }));
  expect(() => hooksIn(many)).toThrow(/20/);
});

it("accepts the example of docs/bridge.md", () => {
  const page = readFileSync(new URL("../../../../docs/bridge.md", import.meta.url), "utf8");
  const [, example = ""] = /## Hooks\n[^]*?```yaml\n([^]*?)```/.exec(page) ?? [];
  const { spec } = z.object({ spec: ReconcileFunction.spec }).parse(parse(example));
  const hooks = hooksOf(spec, { namespace: "web", name: "sites", uid: "u" });
  expect(hooks.map(({ name, verify, reach }) => [name, verify.by, reach])).toEqual([
    ["pushes", "hmac", ["web"]],
    ["uploads", "bearer", ["web"]],
  ]);
});
