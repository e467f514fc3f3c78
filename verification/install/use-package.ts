import assert from "node:assert/strict";
import { cpSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { init } from "../../apps/cli/src/init/init.ts";
import { root } from "../harness/repository-files.ts";
import type { EmptyMachine, Ended } from "./empty-machine.ts";
import { step } from "./step.ts";

const project = "projects/greetings";

/** Runs a command in a folder, and answers its output. Rejects if it fails. */
type Expect = (where: string, ...words: readonly string[]) => Promise<string>;

/**
 * Does what a user does with the published package.
 *
 * @param names that each subpath must export.
 */
export async function usePackage(
  { path, run }: EmptyMachine,
  version: string,
  names: Readonly<Record<string, readonly string[]>>,
): Promise<void> {
  const on: Expect = (where, ...words) =>
    step(words.join(" "), async () => {
      const { code, output } = await run(words, where);
      assert.equal(code, 0, output);
      return output;
    });
  await on("projects", "npm", "install", "drover");
  for (const { name, language } of made)
    await on("projects", "npx", "drover", "init", name, "--language", language);
  const files = made.map(({ name }) => filesIn(join(path, "projects", name)));
  // Each needs what is above, and none needs another.
  await Promise.all([
    step("compare the new functions with those of the sources", () => compareWithSources(path, files)),
    useFunction(path, version, on, run),
    usePython(on),
  ]);

  await on(project, "npm", "install", "--no-save", "@aws-sdk/credential-providers", "@smithy/core");
  await useModules(
    join(path, project),
    names,
    (words) => run(words, project),
    (...words) => on(project, ...words),
  );
  await step("look for paths of this repository", () => {
    const all = ["projects", "image"].flatMap((each) => pathsIn(join(path, each)));
    assert.ok(all.length > 1_000);
    assert.deepEqual(
      all.filter((file) => readFileSync(file).includes(root.replace(/\/$/, ""))),
      [],
    );
  });
}

const made = [
  { name: "greetings", kind: "Greeting", language: "typescript" },
  { name: "pages", kind: "Page", language: "python" },
  { name: "sites", kind: "Site", language: "go" },
] as const;

/** The sources make the same functions as the package has made. */
async function compareWithSources(path: string, files: readonly Files[]): Promise<void> {
  const parent = join(path, "expected");
  for (const { name, ...one } of made)
    await init({ ...one, parent, name, plural: name, group: "example.com" });
  assert.deepEqual(
    files,
    made.map(({ name }) => filesIn(join(parent, name))),
  );
}

/** Installs, tests and builds the function in TypeScript, and starts what its image contains. */
async function useFunction(
  path: string,
  version: string,
  on: Expect,
  run: EmptyMachine["run"],
): Promise<void> {
  const manifest = readFileSync(join(path, project, "package.json"), "utf8");
  assert.ok(manifest.includes(`"drover": "${version}"`), manifest);
  await on(project, "npm", "install");
  const [tested] = await Promise.all([
    on(project, "npm", "test"),
    on(project, "npm", "run", "check"),
    on(project, "npm", "run", "build"),
    on(project, "npx", "drover", "generate", "--check"),
  ]);
  assert.match(tested, /(\d+) executed, \1 with the same final state/);
  await step("start the content of the image", async () => {
    const dockerfile = readFileSync(join(path, project, "Dockerfile"), "utf8");
    const copied = [...dockerfile.matchAll(/^COPY --chmod=0444 (\S+) \.\/$/gm)].map(([, file = ""]) => file);
    assert.equal(copied.length, 1);
    mkdirSync(join(path, "image"));
    for (const file of copied) cpSync(join(path, project, file), join(path, "image/main.mjs"));
    assert.match((await run(["node", "main.mjs"], "image")).output, /DROVER_REDIS_URL is not set\. Set it\./);
  });
}

async function usePython(on: Expect): Promise<void> {
  await on("projects/pages", "python3", "-m", "unittest");
  const plans = ["test", "--plan", "write 1 (POST /)", "--run", "python3 function.py"];
  assert.match(
    await on("projects/pages", "npx", "drover", ...plans),
    /(\d+) executed, \1 with the same final state/,
  );
}

const pathsIn = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((file) => join(folder, file))
    .filter((file) => statSync(file).isFile())
    .sort();

type Files = Readonly<Record<string, string>>;

/** The contents of all files in a folder, by path. */
const filesIn = (folder: string): Files =>
  Object.fromEntries(
    pathsIn(folder).map((file) => [relative(folder, file), readFileSync(file, "utf8")] as const),
  );

/** Imports every export, by each module resolution of TypeScript that can read the package, and by Node. */
async function useModules(
  project: string,
  names: Readonly<Record<string, readonly string[]>>,
  run: (words: readonly string[]) => Promise<Ended>,
  on: (...words: readonly string[]) => Promise<string>,
): Promise<void> {
  const values = Object.entries(names).map(([subpath, all]) => {
    const file = `src/all-${subpath.replaceAll("/", "-")}.ts`;
    writeFileSync(join(project, file), `export { ${all.join(", ")} } from "${subpath}";\n`);
    const expected = all.filter((name) => !name.startsWith("type ")).toSorted();
    return `assert.deepEqual(Object.keys(await import("${subpath}")).sort(), ${JSON.stringify(expected)});`;
  });
  writeFileSync(
    join(project, "names.mjs"),
    `import assert from "node:assert/strict";\n${values.join("\n")}\n`,
  );
  cpSync(join(import.meta.dirname, "consumer"), join(project, "src"), { recursive: true });
  // arethetypeswrong has resolved the names as node16 does, which is as nodenext does.
  await Promise.all([
    on("node", "names.mjs"),
    on("node", "src/across-subpaths.ts"),
    on("node", "--eval", 'require("drover").defineResource.call'),
    on("npx", "tsc", "--noEmit", "--module", "preserve", "--moduleResolution", "bundler"),
    // With the declarations themselves. Those of other packages have errors of their own: @kubernetes/client-node imports one
    // without types.
    step("npx tsc --noEmit --module nodenext --skipLibCheck false", async () => {
      const { output } = await run([
        "npx",
        "tsc",
        "--noEmit",
        "--module",
        "nodenext",
        "--skipLibCheck",
        "false",
      ]);
      const errors = output
        .split("\n")
        .filter((line) => line.includes(": error TS") || line.startsWith("error TS"));
      assert.deepEqual(
        errors.filter((line) => !/^node_modules\/(?!drover\/)/.test(line)),
        [],
      );
    }),
  ]);
}
