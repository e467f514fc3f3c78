import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import { folderOfTest } from "../../../testing/src/folder.fixture.ts";
import { readRegistrations } from "./read-registrations.ts";

const bucket = `
apiVersion: drover.dev/v1alpha1
kind: ReconcileFunction
metadata:
  name: buckets.s3.drover.dev
spec:
  for: { group: s3.drover.dev, version: v1alpha1, kind: Bucket, plural: buckets, scope: Namespaced }
`;
const bucketRef = {
  group: "s3.drover.dev",
  version: "v1alpha1",
  kind: "Bucket",
  plural: "buckets",
  namespaced: true,
};
const pods = (more: string) =>
  `{ group: "", version: v1, kind: Pod, plural: pods, scope: Namespaced, ${more} }`;
let folder: string;
beforeEach(() => void (folder = folderOfTest()));
const read = (files: Record<string, string>, path = folder) => {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return () => readRegistrations(path);
};

it("reads every ReconcileFunction of a folder, and skips other kinds", () => {
  const crd = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n";
  const named = (name: string): string => bucket.replace("buckets.s3", `${name}.s3`);
  const files = {
    "a.yaml": `${bucket}---\n${named("other")}`,
    "b.yml": named("third"),
    "c.yaml.old": named("fourth"),
  };
  expect(read({ ...files, "crd.yml": crd })()).toEqual(
    ["buckets.s3.drover.dev", "other.s3.drover.dev", "third.s3.drover.dev"].map((controller) => ({
      controller: `-/${controller}/-`,
      follows: [
        {
          ref: bucketRef,
          subscription: { for: bucketRef, map: { by: "self" }, ownFinalizer: `drover.dev/${controller}` },
        },
      ],
      hooks: [],
    })),
  );
});

it("reads the other kinds that a controller follows, with their mappings and fields", () => {
  const podSpec = "group: '', version: v1, kind: Pod, plural: pods, scope: Namespaced";
  const more = `  owns: [{ ${podSpec}, namespaces: [b, a] }]
  watches:
    - { ${podSpec}, names: { label: for }, changed: [metadata.labels] }
    - { ${podSpec}, names: { field: "spec.volumes[].name", acrossNamespaces: true } }
    - { ${podSpec}, names: { annotation: for }, labelSelector: { matchExpressions: [{ key: a, operator: Exists }] } }
`;
  const [registration] = read({ "a.yaml": bucket + more })();
  expect(registration?.follows.slice(1)).toMatchObject([
    { ref: { plural: "pods" }, subscription: { map: { by: "owner" }, namespaces: ["a", "b"] } },
    { subscription: { map: { by: "label", name: "for" }, changed: [{ text: "metadata.labels" }] } },
    { subscription: { map: { by: "field", path: { text: "spec.volumes[].name" }, acrossNamespaces: true } } },
    { subscription: { selector: { matchExpressions: [{ key: "a", operator: "Exists" }] } } },
  ]);
});

it("reads if wakes carry cached objects, which is refused for Secrets", () => {
  const [registration] = read({ "a.yaml": `${bucket}  copies: true\n` })();
  expect(registration?.follows[0]).toMatchObject({ subscription: { map: { by: "self" }, copies: true } });
  const secret = bucket.replace("group: s3.drover.dev", 'group: ""').replace("buckets,", "secrets,");
  expect(read({ "a.yaml": `${secret}  copies: true\n` })).toThrow(/spec\.copies: Secrets are not copied/);
});

it("reads the owned kinds with deltas in wakes, for each mapping", () => {
  const of = (plural: string) => `group: '', version: v1, kind: Kind, plural: ${plural}, scope: Namespaced`;
  const owns = (plural: string): string => `  owns: [{ ${of(plural)}, copies: true }]\n`;
  const watches = `  watches:
    - { ${of("pods")}, names: { label: for } }
    - { ${of("nodes")}, names: { label: for } }
`;
  const [registration] = read({ "a.yaml": bucket + owns("pods") + watches })();
  const carried = registration?.follows.map(({ subscription: { deltas, copies } }) => [deltas, copies]);
  expect(carried).toEqual([
    [undefined, undefined],
    [true, undefined],
    [true, undefined],
    [undefined, undefined],
  ]);
  expect(read({ "a.yaml": bucket + owns("secrets") })).toThrow(
    /spec\.owns\[0\]\.copies: Secrets are not copied/,
  );
  const asked = `  watches:\n    - { ${of("pods")}, names: { code: true } }\n`;
  expect(read({ "a.yaml": bucket + owns("pods") + asked })).toThrow(
    /spec\.watches\[0\]\.names\.code: code finds the keys, .* Leave copies out of spec\.owns/,
  );
});

it("reads the lookups, the indexes that they need, and their namespaces", () => {
  const secret = "group: '', version: v1, kind: Secret, plural: secrets, scope: Namespaced";
  const node = "group: '', version: v1, kind: Node, plural: nodes, scope: Cluster";
  const more = `  watches:
    - { ${secret}, names: { referencedBy: "spec.secrets[].name" } }
    - { ${secret}, names: { selectedBy: spec.selector } }
    - { ${secret}, names: { all: true } }
    - { ${node}, names: { all: true } }
    - { ${secret}, names: { all: true, acrossNamespaces: true } }
`;
  const [registration] = read({
    "a.yaml": `${bucket.replace("scope: Namespaced", "scope: Namespaced, namespaces: [a], labelSelector: { matchLabels: { on: 'yes' } }")}${more}`,
  })();
  const [, references, referencedBy, selects, selectedBy, ...all] = registration?.follows ?? [];
  expect(references).toMatchObject({
    ref: { plural: "buckets" },
    subscription: {
      map: { by: "references", to: { plural: "secrets" } },
      namespaces: ["a"],
      selector: { matchLabels: { on: "yes" } },
    },
  });
  expect(referencedBy).toMatchObject({
    ref: { plural: "secrets" },
    subscription: { map: { by: "referencedBy" } },
  });
  expect(referencedBy?.looksInto).toEqual(references);
  expect(selects).toMatchObject({ subscription: { map: { by: "selects", within: "namespace" } } });
  expect(selectedBy?.looksInto).toEqual(selects);
  expect(all.map(({ subscription: { map } }) => map)).toEqual(
    ["namespace", "cluster", "cluster"].flatMap((within) => [
      { by: "presence", within },
      { by: "all", within },
    ]),
  );
  expect([1, 3, 5].map((i) => all[i]?.looksInto)).toEqual([0, 2, 4].map((i) => all[i]));
});

it("maps by code with jobs of a separate queue, with the keys of the watched objects", () => {
  const more = `  watches: [${pods("names: { code: true }")}]`;
  const [registration] = read({ "a.yaml": bucket + more })();
  expect(registration?.follows.slice(1)).toMatchObject([
    {
      ref: { plural: "pods" },
      subscription: { map: { by: "code" }, for: { plural: "pods" } },
      queue: "-/buckets.s3.drover.dev/-/names/pods",
    },
  ]);
});

it("wakes only objects in the namespaces of its kind, also for objects that may name others", () => {
  const own = bucket.replace("scope: Namespaced", "scope: Namespaced, namespaces: [b, a]");
  const more = `  owns: [${pods("acrossNamespaces: true")}]\n  watches: [${pods("names: { label: for, acrossNamespaces: true }")}]`;
  const within = (text: string) =>
    read({ "a.yaml": text + more })()[0]?.follows.map(({ subscription: { keysIn } }) => keysIn);
  expect(within(own)).toEqual([undefined, ["a", "b"], ["a", "b"]]);
  expect(within(bucket)).toEqual([undefined, undefined, undefined]);
});

it("wakes all objects of a namespace for related objects that code names", () => {
  const more = `  watches: [${pods("related: true, names: { code: true }")}]`;
  const [registration] = read({ "a.yaml": bucket + more })();
  expect(registration?.follows.slice(1).map(({ subscription: { map }, queue }) => [map, queue])).toEqual([
    [{ by: "presence", within: "namespace" }, undefined],
    [{ by: "all", within: "namespace" }, undefined],
  ]);
});

it("indexes the values of objects if a hook's events name them", () => {
  const names = `names: { field: "Records[].s3.bucket.name", heldBy: status.bucketName }`;
  const verify = "verify: { bearer: { secretRef: { name: s3, key: token } } }";
  const [registration] = read({ "a.yaml": `${bucket}  hooks: [{ name: drift, ${verify}, ${names} }]` })();
  expect(registration?.follows.slice(1)).toMatchObject([
    {
      ref: { plural: "buckets" },
      subscription: { map: { by: "holds", path: { text: "status.bucketName" } } },
    },
  ]);
});

it("refuses a controller that is registered twice, naming both files", () => {
  expect(read({ "a.yaml": bucket, "b.yaml": bucket })).toThrow(
    /b\.yaml: .*registered in .*a\.yaml already. Rename/,
  );
  rmSync(join(folder, "b.yaml"));
  expect(read({ "a.yaml": `${bucket}---\n${bucket}` })).toThrow(/registered in .*a\.yaml already. Rename/);
});

it("reads hooks with the same name of two functions, and refuses a misspelt field", () => {
  const hook =
    "hooks: [{ name: git, verify: { bearer: { secretRef: { name: a, key: b } } }, names: { field: a } }]";
  const both = {
    "a.yaml": `${bucket}  ${hook}`,
    "b.yaml": `${bucket.replace("buckets.s3", "other.s3")}  ${hook}`,
  };
  expect(read(both)().flatMap(({ hooks }) => hooks.map(({ address }) => address))).toEqual([
    "-/buckets.s3.drover.dev/git",
    "-/other.s3.drover.dev/git",
  ]);
  expect(read({ "a.yaml": `${bucket}  ${hook.replace("secretRef", "secretref")}`, "b.yaml": "" })).toThrow(
    /spec\.hooks\.0\.verify\.bearer\.secretref is not known\. Did you mean secretRef\?/,
  );
});

it.each([
  [
    "an unknown field",
    bucket.replace("plural", "plurals"),
    /spec\.for\.plurals is not known\. Did you mean plural\?/,
  ],
  ["a misspelt top-level field", `${bucket}metadat: {}\n`, /metadat is not known\. Did you mean metadata\?/],
  ["an unknown top-level field", `${bucket}specs: {}\n`, /specs is not known\. Did you mean spec\?/],
  ["an unknown scope", bucket.replace("Namespaced", "Global"), /spec\.for\.scope/],
  [
    "no mapping",
    `${bucket}  watches: [${pods("names: {}")}]`,
    /spec\.watches\[0\]\.names: give exactly one of/,
  ],
  [
    "two mappings",
    `${bucket}  watches: [${pods("names: { label: a, field: b }")}]`,
    /spec\.watches\[0\]\.names: give exactly one of/,
  ],
  [
    "lookups across namespaces without a grant",
    `${bucket.replace("scope: Namespaced", "scope: Cluster")}  watches: [${pods("names: { all: true }")}]`,
    /spec\.watches\[0\]\.names: .* set acrossNamespaces: true/,
  ],
  [
    "related objects of other namespaces",
    `${bucket}  watches: [${pods("related: true, names: { all: true, acrossNamespaces: true }")}]`,
    /spec\.watches\[0\]\.names\.acrossNamespaces: .* of its own namespace only\. Leave it out/,
  ],
  [
    "a wait that is too long",
    `${bucket}  owns: [${pods("batchFor: 61s")}]`,
    /spec\.owns\.0\.batchFor: is longer than 1m, the longest wait/,
  ],
  [
    "a wait that is no duration",
    `${bucket}  owns: [${pods("batchFor: 5")}]`,
    /spec\.owns\.0\.batchFor: .*string/,
  ],
  ["a wait of the kind itself", bucket.replace("scope:", "batchFor: 1s, scope:"), /batchFor/],
  [
    "an invalid path",
    `${bucket}  owns: [${pods('changed: ["a..b"]')}]`,
    /spec\.owns\[0\]\.changed\[0\]: "a\.\.b" is not a field path/,
  ],
  [
    "a selector without values",
    `${bucket}  owns: [${pods("labelSelector: { matchExpressions: [{ key: a, operator: In }] }")}]`,
    /matchExpressions\[0\]\.values: In takes at least one value/,
  ],
  [
    "namespaces of a cluster-scoped kind",
    `${bucket}  owns: [${pods("namespaces: [a]").replace("Namespaced", "Cluster")}]`,
    /spec\.owns\[0\]\.namespaces: a cluster-scoped kind has none/,
  ],
  [
    "a kind that is owned twice",
    `${bucket}  owns: [${pods("namespaces: [a]")}, ${pods("namespaces: [b]")}]`,
    /spec\.owns: has two entries for one kind\. Make them one/,
  ],
  ["another version of ReconcileFunction", bucket.replace("v1alpha1\nkind", "v2\nkind"), /apiVersion/],
  ["text that is not YAML", "a: b: c", /not YAML/],
  ["an empty file", "", /no ReconcileFunction in it/],
])("refuses %s", (_what, text, message) => {
  expect(read({ "a.yaml": text })).toThrow(message);
});

it("refuses a missing path", () => {
  expect(read({}, join(folder, "none"))).toThrow(/no such file or folder/);
});
