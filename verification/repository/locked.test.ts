import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { z } from "zod";
import { repositoryFiles, root } from "../harness/repository-files.ts";

// Whatever is installed here is named in a list with its hash. The installers refuse what does not fit a hash; these tests
// refuse lists that have none.
const read = (path: string) => readFileSync(join(root, path), "utf8");
const files = repositoryFiles();
const named = (name: RegExp) => files.filter((path) => name.test(path));

const lockSchema = z.object({
  lockfileVersion: z.literal(3),
  packages: z.record(
    z.string(),
    z.object({
      link: z.boolean().optional(),
      resolved: z.string().optional(),
      integrity: z.string().optional(),
      hasInstallScript: z.boolean().optional(),
    }),
  ),
});

/** Packages of a lock file that npm would install without a hash, or from elsewhere than its registry. */
const unlocked = (text: string): readonly string[] =>
  Object.entries(lockSchema.parse(JSON.parse(text)).packages)
    // Folders of the repository itself, and the links to them.
    .filter(([path, { link }]) => path.includes("node_modules/") && link !== true)
    .filter(
      ([, { resolved, integrity = "" }]) =>
        resolved !== undefined || !/^sha512-[\w+/]{86}==$/.test(integrity),
    )
    .map(([path]) => path);

/** Requirements of a list for pip that are not one version with its hashes. */
const unpinned = (text: string): readonly string[] =>
  text
    .replaceAll(/^#.*\n/gm, "")
    .split(/\n(?!\s)/)
    .filter(
      (line) =>
        line.trim() !== "" && !/^[\w.-]+==[\w.]+(?: \\\n +--hash=sha256:[0-9a-f]{64})+\s*$/.test(line),
    );

/** Packages of a Cargo.lock that come from elsewhere than crates.io, or have no checksum. The repository's own have no source. */
const unlockedCrates = (text: string): readonly string[] =>
  text
    .split("[[package]]\n")
    .slice(1)
    .filter((entry) => /^source = /m.test(entry))
    .filter(
      (entry) => !/^source = "registry\+[^"]*\/crates\.io-index"\nchecksum = "[0-9a-f]{64}"$/m.test(entry),
    )
    .map((entry) => /^name = "(.*)"$/m.exec(entry)?.[1] ?? entry);

/** Dependencies and plugins of a pom.xml that have no version, a range, or one that changes. */
const unversioned = (text: string): readonly string[] =>
  [...text.matchAll(/<(dependency|plugin)>(.*?)<\/\1>/gs)]
    .map(([, , entry = ""]) => entry)
    .filter((entry) => !/<version>\d+(\.\d+)+<\/version>/.test(entry));

const npmLists = named(/(^|\/)package-lock\.json$/);
// NOTES.txt is a template of a Helm chart.
const pipLists = named(/\.txt$/).filter((path) => !/^llms\.txt$|\/NOTES\.txt$/.test(path));
const goModules = named(/(^|\/)go\.mod$/);
const poms = named(/(^|\/)pom\.xml$/);
const crates = named(/(^|\/)Cargo\.toml$/);

it.each(npmLists)("%s has a hash for every package", (path) => expect(unlocked(read(path))).toEqual([]));

it.each(pipLists)("%s has one version and its hashes for every package", (path) => {
  expect(unpinned(read(path))).toEqual([]);
});

// Go itself checks the hashes: with -mod=readonly it builds no module without one in go.sum.
it.each(goModules)("%s has the hashes of what it requires beside it", (path) => {
  // A module of this repository is replaced by its folder.
  const requires = /^require\b(?! drover\.dev\/sdk\/)/m.test(read(path));
  const sums = join(dirname(path), "go.sum");
  expect(requires ? existsSync(join(root, sums)) : true, sums).toBe(true);
});

it.each(crates)("Cargo.lock beside %s has the checksum of each package", (path) => {
  expect(unlockedCrates(read(join(dirname(path), "Cargo.lock")))).toEqual([]);
});

// They are copied and depended on, and then their Cargo.lock is not used.
it.each(crates.filter((path) => /^(sdk|examples)\//.test(path)))("%s requires exact versions", (path) => {
  const [, required = ""] = /^\[dependencies\]\n(.*?)(?:^\[|$(?![^]))/ms.exec(read(path)) ?? [];
  const versions = required.matchAll(/^(?!drover )[\w-]+ = (?:\{ version = )?"([^"]*)"/gm);
  const given = Array.from(versions, ([, version = ""]) => version);
  expect(given.length).toBeGreaterThan(0);
  expect(given.filter((version) => !/^=\d+\.\d+\.\d+$/.test(version))).toEqual([]);
});

// Maven itself compares nothing with them: the conformance suite does, before it starts a function in Java.
it("the jars of functions in Java have hashes", () => {
  for (const line of read("sdk/java/jars.sha256").trimEnd().split("\n"))
    expect(line).toMatch(/^[0-9a-f]{64} {2}[\w.-]+\.jar$/);
});

it.each(poms)("%s has an exact version for every dependency and every plugin", (path) => {
  expect(unversioned(read(path))).toEqual([]);
});

/** Images that a file names, but for Drover's own: those are built from it. */
const foreignImages = (text: string): readonly string[] =>
  [...text.matchAll(/^\s*(?:ARG BASE=|FROM |-? ?image: |BASE: )["']?(?:\$\{\w+:-)?([\w./-]+[:@][^\s"'}]+)/gm)]
    .map(([, image = ""]) => image)
    .filter((image) => !/^(drover\/|registry\.example\.com\/|publisher:)/.test(image));
const imagesOf = (path: string) => foreignImages(read(path));

it("every image of others is named by its digest, the same everywhere", () => {
  const naming = named(
    /(^|\/)Dockerfile$|\.ya?ml$|^docs\/.*\.md$|^apps\/cli\/src\/generate\/function-files\.ts$/,
  );
  const images = naming.flatMap(imagesOf);
  expect(images.length).toBeGreaterThan(5);
  expect(images.filter((image) => !/:[\w.-]+@sha256:[0-9a-f]{64}$/.test(image))).toEqual([]);
  const repositories = new Set(images.map((image) => image.split(":")[0]));
  expect(new Set(images).size).toBe(repositories.size);
});

it("an image without a digest is found", () => {
  const digest = `@sha256:${"0".repeat(64)}`;
  const text = `FROM \${BASE}\nARG BASE=a.io/b:1\n    image: \${D:-c/d:2}\n  - image: e:3${digest}\n image: drover/f:4\n`;
  expect(foreignImages(text)).toEqual(["a.io/b:1", "c/d:2", `e:3${digest}`]);
});

it("Go is never let change its lists while it builds", () => {
  const calls = named(/\.ts$/).filter(
    (path) => /"-trimpath"/.test(read(path)) && path !== "verification/repository/locked.test.ts",
  );
  expect(calls.length).toBeGreaterThan(3);
  expect(calls.filter((path) => !read(path).includes('"-mod=readonly"'))).toEqual([]);
});

it("Cargo is never let change its lists while it builds", () => {
  const calls = named(/\.ts$/).flatMap((path) => read(path).match(/"cargo",\s*\[?"(build|test)".*/g) ?? []);
  expect(calls.length).toBeGreaterThan(1);
  expect(calls.filter((call) => !call.includes('"--locked"'))).toEqual([]);
});

it("finds all lists", () => {
  expect(npmLists).toContain("package-lock.json");
  expect(pipLists).toContain("tools/local-servers/python/moto.txt");
  expect(goModules.length).toBeGreaterThan(5);
  expect(crates).toContain("sdk/rust/Cargo.toml");
  expect(poms).toContain("sdk/java/pom.xml");
});

it("every workspace is in the lock file", () => {
  const { packages } = lockSchema.parse(JSON.parse(read("package-lock.json")));
  const workspaces = named(/^(packages|functions|apps|examples|tools)\/[^/]+\/package\.json$/).map(dirname);
  expect(Object.keys(packages)).toEqual(expect.arrayContaining(workspaces));
});

it("no package's install script runs", () => {
  for (const path of npmLists) {
    const npmrc = join(dirname(path), ".npmrc");
    expect(read(npmrc), npmrc).toMatch(/^ignore-scripts=true$/m);
  }
});

it("a list without a hash is found", () => {
  const hash = `sha512-${"A".repeat(86)}==`;
  const packages = {
    "": {},
    "apps/a": {},
    "node_modules/a": { link: true, resolved: "apps/a" },
    "node_modules/good": { integrity: hash },
    "node_modules/none": {},
    "node_modules/weak": { integrity: "sha1-AAAA" },
    "node_modules/elsewhere": { integrity: hash, resolved: "git+ssh://git@example.com/a.git#1" },
  };
  expect(unlocked(JSON.stringify({ lockfileVersion: 3, packages }))).toEqual([
    ...["node_modules/none", "node_modules/weak", "node_modules/elsewhere"],
  ]);
  const crate = (source: string, sum: string) =>
    `[[package]]\nname = "a"\nversion = "1.0.0"\n${source === "" ? "" : `source = "${source}"\n`}${sum}\n`;
  const index = "registry+https://github.com/rust-lang/crates.io-index";
  const checksum = `checksum = "${"0".repeat(64)}"`;
  expect(unlockedCrates(crate("", "") + crate(index, checksum))).toEqual([]);
  expect(unlockedCrates(crate(index, ""))).toEqual(["a"]);
  expect(unlockedCrates(crate("git+https://example.com/a.git", checksum))).toEqual(["a"]);
  const pom = (version: string) => `<plugin>\n  <artifactId>a</artifactId>${version}\n</plugin>`;
  expect(unversioned(pom("<version>3.5.3</version>"))).toEqual([]);
  for (const version of [
    "",
    "<version>LATEST</version>",
    "<version>[1.0,)</version>",
    "<version>1.0-SNAPSHOT</version>",
  ])
    expect(unversioned(pom(version))).toHaveLength(1);
  const good = `good==1.0 \\\n    --hash=sha256:${"0".repeat(64)}\n`;
  expect(unpinned(`# a\n${good}`)).toEqual([]);
  for (const bad of [
    "none==1.0\n",
    "range>=1.0 \\\n    --hash=sha256:0\n",
    "-r other.txt\n",
    "--pre\n",
    "./a.whl\n",
  ])
    expect(unpinned(good + bad + good)).toHaveLength(1);
});
