import { type ObjectMetadata, ReconcileFunction } from "@drover/controller";
import { expect, it } from "vitest";
import { authorAnnotations } from "./authors.ts";
import { deniedOf, useAskedFor } from "./permits.ts";

const kind = (plural: string) => ({
  ...{ group: "example.com", version: "v1", kind: "Cup", plural, scope: "Namespaced" },
});
const asked = (spec: object = {}, metadata: Partial<ObjectMetadata> = {}) =>
  useAskedFor(
    { name: "cups", namespace: "web", uid: "u", resourceVersion: "1", ...metadata },
    ReconcileFunction.spec.parse({ for: kind("cups"), delivery: "webhook", ...spec }),
  );
const hook = (name: string) => ({
  name: "h",
  verify: { bearer: { secretRef: { name, key: "k" } } },
  names: { field: "name" },
});

it.each<[string, ReturnType<typeof asked>, { readonly followed: boolean; readonly called: boolean }]>([
  ["the same once more", asked(), { followed: false, called: false }],
  ["another pace", asked({ timeout: "5s", paused: true }), { followed: false, called: false }],
  ["another image", asked({ container: { image: "i" } }), { followed: false, called: false }],
  [
    "another author",
    asked({}, { annotations: { [authorAnnotations.user]: "ada" } }),
    { followed: false, called: true },
  ],
  ["another address", asked({ webhook: { path: "/x" } }), { followed: false, called: true }],
  ["another kind", asked({ for: kind("saucers") }), { followed: true, called: true }],
  ["a kind that it owns", asked({ owns: [kind("saucers")] }), { followed: true, called: false }],
  [
    "a kind that it watches",
    asked({ watches: [{ ...kind("saucers"), names: { label: "l" } }] }),
    { followed: true, called: false },
  ],
  [
    "a Secret that its hook is compared with",
    asked({ hooks: [hook("s")] }),
    { followed: true, called: false },
  ],
  [
    "fewer namespaces",
    asked({ for: { ...kind("cups"), namespaces: ["a"] } }),
    { followed: true, called: true },
  ],
])("a permit is no longer right for what asks for %s", (_what, use, is) => {
  const before = asked();
  expect({ followed: use.followed !== before.followed, called: use.called !== before.called }).toEqual(is);
});

it("a hook's Secret in another namespace, or another Secret, is another request", () => {
  const uses = [
    asked({ hooks: [hook("s")] }),
    asked({ hooks: [hook("t")] }),
    asked({ hooks: [hook("s")] }, { namespace: "other" }),
  ];
  expect(new Set(uses.map(({ followed }) => followed)).size).toBe(3);
});

it("of what is needed all is reviewed, some at once, and no more than who asks wants to hear of", async () => {
  const needed = Array.from({ length: 20 }, (_, i) => i);
  const reviewed: number[] = [];
  const denied = deniedOf(needed, (one) => {
    reviewed.push(one);
    return Promise.resolve(![2, 3, 9, 19].includes(one));
  });
  expect(await denied.next()).toEqual({ value: 2, done: false });
  expect(reviewed).toHaveLength(8);
  expect(await Array.fromAsync(denied)).toEqual([3, 9, 19]);
  expect(reviewed).toEqual(needed);
});
