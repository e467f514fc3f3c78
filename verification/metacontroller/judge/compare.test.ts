import type { KubeObject } from "@drover/kube";
import { expect, it } from "vitest";
import type { JsonObject } from "../../../packages/sandbox/src/json.ts";
import { nothing } from "../histories/expected.ts";
import { stateOf } from "./canonical.ts";
import { differences, unexplained } from "./compare.ts";
import { lackingIn } from "./lacking.ts";

const group = "drover.example.com";
const identity = { namespace: "here", resourceVersion: "1" };
const parent: KubeObject = {
  apiVersion: `${group}/v1`,
  kind: "Bundle",
  metadata: { ...identity, name: "parent", uid: "p" },
};
const owner = { apiVersion: parent.apiVersion, kind: "Bundle", name: "parent", uid: "p", controller: true };
const owned = (kind: string, name: string, fields: object = {}, metadata: object = {}): KubeObject => ({
  apiVersion: kind === "Deployment" ? "apps/v1" : "v1",
  kind,
  metadata: { ...identity, name, uid: `${kind}-${name}`, ownerReferences: [owner], ...metadata },
  ...fields,
});
const state = (...objects: readonly KubeObject[]) => stateOf(objects, ["p"]);
const podsWith = (...containers: readonly JsonObject[]) => ({ spec: { template: { spec: { containers } } } });

it("sees every field but those of the server and of the contestants", () => {
  const labels = { a: "1", "drover.dev/controller": "x" };
  const one = owned("ConfigMap", "a", { data: { a: "1" } }, { labels, generation: 1 });
  const other = owned(
    "ConfigMap",
    "a",
    { data: { a: "2" } },
    { labels: { "controller-uid": "p" }, uid: "q" },
  );
  expect(differences(state(one), state(other)).map(({ path }) => path)).toEqual([
    "metadata.labels.a",
    "data.a",
  ]);
});

it("sees a child that only one side has, and one that is not owned", () => {
  const one = owned("ConfigMap", "a");
  expect(differences(state(one), state()).map(({ child }) => child)).toContain("ConfigMap/a");
  expect(differences(state(one), state(owned("ConfigMap", "a", {}, { ownerReferences: [] })))).toHaveLength(
    1,
  );
});

it("ignores the order of keyed lists, and no other", () => {
  const [a, b] = [{ name: "a", args: ["1", "2"] }, { name: "b" }];
  const of = (...containers: readonly JsonObject[]) =>
    state(owned("Deployment", "a", podsWith(...containers)));
  expect(differences(of(a, b), of(b, a))).toEqual([]);
  expect(differences(of(a), of({ name: "a", args: ["2", "1"] }))).toHaveLength(1);
});

it("allows what others have added with the subject alone", () => {
  const [less, more] = [{ data: { a: "1" } }, { data: { a: "1", "by-hand": "1" } }];
  const found = (one: object, other: object) =>
    unexplained(
      differences(state(owned("ConfigMap", "a", one)), state(owned("ConfigMap", "a", other))),
      nothing,
      new Map(),
    );
  expect(found(less, more)).toEqual([]);
  expect(found(more, less)).toHaveLength(1);
});

it("allows an undeclared child only while another one is stuck", () => {
  const child = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } };
  const expected = { ...nothing, parent: true, declared: [child] };
  const found = differences(
    state(owned("ConfigMap", "a")),
    state(owned("ConfigMap", "a"), owned("ConfigMap", "b")),
  );
  expect(unexplained(found, expected, new Map())).not.toEqual([]);
  expect(unexplained(found, { ...expected, taken: ["ConfigMap/a"] }, new Map())).toEqual([]);
});

it("names what is not as declared", () => {
  const container = {
    name: "main",
    env: [{ name: "A", value: "" }],
    resources: { requests: { cpu: "1000m" } },
  };
  const declared = {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "a" },
    ...podsWith(container),
  };
  const expected = { ...nothing, parent: true, declared: [declared] };
  const lacking = (...objects: readonly KubeObject[]) => lackingIn(objects, expected, group);
  const written = { name: "main", env: [{ name: "A" }], resources: { requests: { cpu: "1" } } };
  const child = owned("Deployment", "a", podsWith(written));
  expect(lacking()).toBe("there is no parent");
  expect(lacking(parent)).toBe("Deployment/a is not created");
  expect(lacking(parent, child)).toBeUndefined();
  expect(lacking(parent, owned("Deployment", "a", podsWith({ ...written, env: [] })))).toContain(
    "is not as declared",
  );
  expect(lacking(parent, owned("Deployment", "a", podsWith(written), { ownerReferences: [] }))).toContain(
    "is not controlled",
  );
  expect(lacking(parent, child, owned("Secret", "b"))).toBe("Secret/b is not deleted");
  expect(lackingIn([child], nothing, group)).toBe("Deployment/a is not deleted");
});
