import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import { folderOfTest } from "../../../../packages/testing/src/folder.fixture.ts";
import { repositoryPath } from "../package/repository-path.ts";
import { readManifests } from "./read-manifests.ts";

const bucket = (name: string): string =>
  readFileSync(repositoryPath(`functions/s3-bucket/deploy/${name}.yaml`), "utf8");
let folder: string;
beforeEach(() => {
  folder = folderOfTest();
  writeFileSync(join(folder, "function.yaml"), bucket("function"));
});
const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
const named = (): readonly string[] => {
  const { crds, functions } = readManifests(folder);
  return [...crds, ...functions].map(({ metadata }) => metadata.name);
};

it("a CRD keeps the integers of its defaults", () => {
  write("crd.yaml", `${bucket("crd")}\nx-large: 9007199254740993\nx-small: 7\n`);
  expect(readManifests(folder).crds).toMatchObject([{ "x-large": 9007199254740993n, "x-small": 7 }]);
});

it("every document of every .yaml and .yml file is read, in the order of files, and no other file", () => {
  const another = (name: string) =>
    bucket("function").replace("name: buckets.s3.drover.dev", `name: ${name}`);
  write("z.yml", `---\n${another("last")}\n---\n# nothing here\n---\n`);
  write("a.yaml", [another("first"), bucket("crd"), another("second")].join("\n---\n"));
  write("readme.md", "nothing");
  write("a.yaml.orig", "kind: ConfigMap");
  const functions = ["first", "second", "buckets.s3.drover.dev", "last"];
  expect(named()).toEqual(["buckets.s3.drover.dev", ...functions]);
});

it.each([
  ["is not YAML", "a: [", /x\.yaml is not YAML: /],
  ["is of another kind", "kind: ConfigMap", /x\.yaml has a ConfigMap: .* apply it with kubectl/],
  ["is no object", "- a", /x\.yaml has no Kubernetes object/],
  ["is of another version", bucket("function").replace("v1alpha1", "v1"), /cannot be used:\n.*apiVersion/s],
  ["is a CRD of an old version", bucket("crd").replace("/v1", "/v1beta1"), /cannot be used:\n.*apiVersion/s],
  ["has no name", bucket("function").replace(/name: buckets.*/, "labels: {}"), /metadata\.name/],
  ["has a field that there is not", bucket("function").replace("timeout:", "timeuot:"), /timeuot/],
  ["has a field beside its spec", `${bucket("function")}\nstatus: {}\n`, /status/],
  ["has a wrong value", bucket("function").replace("resyncEvery: 1h", "resyncEvery: 1"), /resyncEvery/],
])("one file that %s refuses all, and is named", (_, text, words) => {
  write("x.yaml", text);
  expect(() => readManifests(folder)).toThrow(words);
});

it("a folder without functions, and a missing folder, are reported as such", () => {
  expect(() => readManifests(join(folder, "absent"))).toThrow(/no folder .*absent/);
  mkdirSync(join(folder, "empty"));
  expect(() => readManifests(join(folder, "empty"))).toThrow(/no ReconcileFunction in .*empty/);
});
