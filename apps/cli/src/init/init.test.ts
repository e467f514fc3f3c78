import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { pluralOf } from "@drover/controller";
import { join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import { folderOfTest } from "../../../../packages/testing/src/folder.fixture.ts";
import { linkModules } from "../testing/link-modules.ts";
import { expectError, runCommand, runNpm, spawnDrover } from "../testing/run-command.ts";
import { repositoryPath } from "../package/repository-path.ts";
import { kindFor } from "./init.ts";

let cwd: string;
beforeEach(() => (cwd = folderOfTest()));

it(
  "drover init makes a function whose tests pass, and that is built with the published package",
  { timeout: 180_000 },
  async () => {
    const { code, stdout } = await spawnDrover(["init", "guest-books", "--group", "inn.example.org"], {
      cwd,
    });
    expect(code).toBe(0);
    expect(stdout).toContain("npm install");
    const folder = join(cwd, "guest-books");
    const files = readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((name) => statSync(join(folder, name)).isFile())
      .sort();
    expect(files).toEqual([
      ...[
        ".gitignore",
        ".npmrc",
        "Dockerfile",
        "README.md",
        "deploy/crd.yaml",
        "deploy/function.yaml",
        "example.yaml",
      ],
      ...["package.json", "src/config.ts", "src/controller.test.ts", "src/controller.ts", "src/function.ts"],
      ...["src/guestbook.faults.ts", "src/guestbook.ts", "src/main.ts", "tsconfig.json"],
    ]);
    const text = files.map((name) => readFileSync(join(folder, name), "utf8")).join("");
    expect(text).not.toMatch(/greeter|greeting|DROVER_VERSION|example\.com/i);
    expect(text).toContain("name: guestbooks.inn.example.org");

    await linkModules(folder);
    expect(await runNpm(folder, "test")).toMatch(/3 passed[^]*?(\d+) executed, \1 with the same final state/);
    await runNpm(folder, "run", "build");
    expect(statSync(join(folder, "dist/main.mjs")).size).toBeGreaterThan(100_000);
  },
);

it.each([
  ["a folder that has something in it", ["taken"], /taken is there, and not empty/],
  ["a folder that is a file", ["a-file"], /a-file is a file\. Take another name/],
  ["a name that is none", ["Taken!"], /"Taken!" is not a valid function name: use 2 to 63 lower-case/],
  ["a name that begins with a digit", ["2048"], /"2048" is not a valid function name/],
  ["a name of a package that it needs", ["vitest"], /vitest is the name of a package/],
  ["a kind that begins with a digit", ["cups", "--kind", "2Cups"], /a kind is one CamelCase word/],
  ...["Controller", "Config", "Function", "Main"].map((kind): [string, string[], RegExp] => [
    `the kind ${kind}, whose file is another's`,
    ["cups", "--kind", kind],
    new RegExp(`The kind ${kind} would have its schemas in src/${kind.toLowerCase()}\\.ts`),
  ]),
  ["a plural that is none", ["cups", "--plural", "Cups"], /"Cups" is not a plural/],
  ["a kind that is none", ["cups", "--kind", "cup"], /a kind is one CamelCase word/],
  ["a group that is none", ["cups", "--group", "cups"], /group "cups" is not a DNS name/],
  ["no name", [], /missing required argument 'name'/],
])("drover init refuses %s, and makes nothing", async (_what, words, problem) => {
  mkdirSync(join(cwd, "taken"));
  writeFileSync(join(cwd, "taken/file"), "");
  writeFileSync(join(cwd, "a-file"), "");
  await expectError(spawnDrover(["init", ...words], { cwd }), problem);
  expect(readdirSync(cwd)).toEqual(["a-file", "taken"]);
});

it.each([
  ["guest-books", "GuestBook"],
  ["cache", "Cache"],
  ["glass", "Glass"],
  ["http-2s", "Http2"],
])("the kind of %s is %s", (name, kind) => {
  expect(kindFor(name)).toBe(kind);
});

it.each([
  ...["Class", "Policy", "Status", "Gateway", "Box", "Wish", "Branch", "Bus", "Cup", "Key", "Database"],
  ...["Ingress", "Proxy", "Index", "Repository", "Release", "Size", "House"],
])("the plural of %s leads back to it", (kind) => {
  expect(kindFor(pluralOf(kind))).toBe(kind);
});

it.each([
  ["classes", "Class", "classes.example.com"],
  ["policies", "Policy", "policies.example.com"],
  ["status", "Status", "statuses.example.com"],
])("drover init %s shows the plural, and writes it into manifest and code", async (name, kind, crd) => {
  const { stdout, code } = await spawnDrover(["init", name], { cwd });
  expect(stdout).toContain(`of the kind ${kind} (${crd})`);
  expect(code).toBe(0);
  const read = (path: string): string => readFileSync(join(cwd, name, path), "utf8");
  expect(read("deploy/crd.yaml")).toContain(`name: ${crd}`);
  expect(read("README.md")).toContain(`kubectl get ${crd.split(".")[0] ?? ""}\n`);
  expect(read(`src/${kind.toLowerCase()}.ts`)).toContain(`plural: "${crd.split(".")[0] ?? ""}"`);
});

it.each(["a new folder", "an empty one"])(
  "a failure in between removes what was made in %s",
  async (where) => {
    if (where === "an empty one") mkdirSync(join(cwd, "cups"));
    const full = join(cwd, "full.mjs");
    // The disk is full when the last file is written.
    writeFileSync(
      full,
      `import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
const write = fs.writeFileSync;
fs.writeFileSync = (path, ...rest) => {
  if (!path.endsWith("Dockerfile")) return write(path, ...rest);
  throw Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC", syscall: "write" });
};
syncBuiltinESMExports();
`,
    );
    const env = { NODE_OPTIONS: `--import=${full}` };
    const { code, stderr } = await spawnDrover(["init", "cups"], { cwd, env });
    expect(stderr).toBe("error: A file could not be written: the disk is full. Make room, and try again.\n");
    expect(code).toBe(1);
    expect(readdirSync(cwd).filter((name) => name !== "full.mjs")).toEqual(
      where === "an empty one" ? ["cups"] : [],
    );
    if (where === "an empty one") expect(readdirSync(join(cwd, "cups"))).toEqual([]);
  },
);

it("a Node that is too old gets a message with the version to install", async () => {
  const old = `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.20.2" } })`;
  const bin = repositoryPath("apps/cli/bin/drover.mjs");
  await expect(
    runCommand(cwd, process.execPath, `--import=data:text/javascript,${old}`, bin, "init", "cups"),
  ).rejects.toThrow(/^error: Drover needs Node 24 or newer, and this is 20\.20\.2\. Install it/);
  expect(readdirSync(cwd)).toEqual([]);
});
