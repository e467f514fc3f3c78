import { mkdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import { folderOfTest } from "../../packages/testing/src/folder.fixture.ts";
import { readFolder } from "./read-folder.ts";

let folder: string;
beforeEach(() => void (folder = folderOfTest()));

async function write(file: string, text: string): Promise<void> {
  await mkdir(dirname(join(folder, file)), { recursive: true });
  await writeFile(join(folder, file), text);
}

const definition = (kind: string, more = ""): string => `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: ${kind.toLowerCase()}s.example.com }
spec:
  group: example.com
  names: { plural: ${kind.toLowerCase()}s, kind: ${kind} }
  ${more}
  versions: [{ name: v1, served: true, storage: true }, { name: v0, served: false }]
status: { conditions: [] }
`;
const object = (kind: string, name: string, version = "v1"): string =>
  `{ apiVersion: example.com/${version}, kind: ${kind}, metadata: { name: "${name}" } }\n`;

const found = async () => {
  const { projects, ...rest } = await readFolder(folder);
  const names = (all: (typeof projects)[number]["samples"]): string[] =>
    all.map(({ object: { kind, metadata } }) => `${JSON.stringify(kind)} ${JSON.stringify(metadata)}`);
  return {
    ...rest,
    projects: projects.map(({ name, definitions, samples }) => [name, names(definitions), names(samples)]),
  };
};

it("definitions and objects of their kinds are found in all files, among others", async () => {
  await write("a/crd.yaml", `${definition("Cup")}---\n${object("Cup", "one")}---\n# nothing\n---\n`);
  await write("b/deep/er/list.yml", `apiVersion: v1\nkind: List\nitems: [${object("Cup", "two")}]`);
  await write(
    "b/one.json",
    JSON.stringify({ apiVersion: "example.com/v1", kind: "Cup", metadata: { name: "three" } }),
  );
  await write("b/others.yaml", `${object("Other", "x")}---\n${object("Cup", "old", "v0")}`);
  await write("b/notes.txt", object("Cup", "text"));
  expect(await found()).toEqual({
    unreadable: 0,
    withoutWebhook: [],
    projects: [
      ["a", ['"CustomResourceDefinition" {"name":"cups.example.com"}'], ['"Cup" {"name":"one"}']],
      ["b", [], ['"Cup" {"name":"two"}', '"Cup" {"name":"three"}']],
    ],
  });
});

it("the same is found once, and of two definitions of a name the longer one", async () => {
  await write("a/1.yaml", definition("Cup"));
  await write("a/2.yaml", definition("Cup", "preserveUnknownFields: false"));
  await write("b/3.yaml", `${object("Cup", "one")}---\n${object("Cup", "one")}`);
  const { projects } = await readFolder(folder);
  expect(projects.map(({ definitions }) => definitions.map(({ file }) => file))).toEqual([["a/2.yaml"], []]);
  expect(projects[1]?.samples).toHaveLength(1);
});

it("a definition is installed without its webhook and its status", async () => {
  await write("crd.yaml", definition("Cup", "conversion: { strategy: Webhook, webhook: {} }"));
  const read = await readFolder(folder);
  const [only] = read.projects[0]?.definitions ?? [];
  expect(read.withoutWebhook).toEqual(["cups.example.com"]);
  expect(Object.keys(only?.object ?? {})).not.toContain("status");
  expect(only?.object["spec"]).not.toHaveProperty("conversion");
});

it("templates, patches, broken files, links and bombs are left out", async () => {
  await write("crd.yaml", definition("Cup"));
  await write("templates.yaml", `${object("Cup", "a{{ x }}")}---\n${object("Cup", "a$b")}`);
  await write("map.yaml", "apiVersion: example.com/v1\nkind: Cup\nmetadata:\n  name: {{ x }}\n");
  await write("broken.yaml", "apiVersion: [\n");
  await write(
    "patch.yaml",
    "$patch: delete\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: { name: x }\n",
  );
  const bomb = Array.from({ length: 12 }, (_, i) => `a${i + 1}: &a${i + 1} [${`*a${i},`.repeat(9)}]`).join(
    "\n",
  );
  await write("bomb.yaml", `apiVersion: v1\na0: &a0 [x]\n${bomb}\n`);
  await symlink("/etc", join(folder, "link"));
  await symlink("/etc/hostname", join(folder, "link.yaml"));
  const { projects, unreadable } = await found();
  expect(projects).toEqual([[".", ['"CustomResourceDefinition" {"name":"cups.example.com"}'], []]]);
  expect(unreadable).toBe(5);
});
