import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { root } from "../harness/repository-files.ts";
import type { EmptyMachine, Ended } from "./empty-machine.ts";
import { step } from "./step.ts";

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
  const project = "projects/greetings";
  const on = (where: string, ...words: readonly string[]): Promise<string> =>
    step(words.join(" "), async () => {
      const { code, output } = await run(words, where);
      assert.equal(code, 0, output);
      return output;
    });
  await on("projects", "npm", "install", "drover");
  await on("projects", "npx", "drover", "init", "greetings");
  await on("projects", "npx", "drover", "init", "pages", "--language", "python");
  await on("projects", "npx", "drover", "init", "sites", "--language", "go");
  await step("compare the new functions with those of the sources", () => {
    mkdirSync(join(path, "expected"));
    const init = (...words: readonly string[]) =>
      execFileSync(process.execPath, [join(root, "apps/cli/src/main.ts"), "init", ...words], {
        cwd: join(path, "expected"),
      });
    init("greetings");
    init("pages", "--language", "python");
    init("sites", "--language", "go");
    for (const name of ["greetings", "pages", "sites"])
      assert.deepEqual(filesIn(join(path, "projects", name)), filesIn(join(path, "expected", name)));
  });
  const manifest = readFileSync(join(path, project, "package.json"), "utf8");
  assert.ok(manifest.includes(`"drover": "${version}"`), manifest);
  await on(project, "npm", "install");
  assert.match(await on(project, "npm", "test"), /(\d+) executed, \1 with the same final state/);
  await on(project, "npm", "run", "check");
  await on(project, "npm", "run", "build");
  await on(project, "npx", "drover", "generate", "--check");

  await step("start the content of the image", async () => {
    const dockerfile = readFileSync(join(path, project, "Dockerfile"), "utf8");
    const copied = [...dockerfile.matchAll(/^COPY --chmod=0444 (\S+) \.\/$/gm)].map(([, file = ""]) => file);
    assert.equal(copied.length, 1);
    mkdirSync(join(path, "image"));
    for (const file of copied) cpSync(join(path, project, file), join(path, "image/main.mjs"));
    assert.match((await run(["node", "main.mjs"], "image")).output, /DROVER_REDIS_URL is not set\. Set it\./);
  });

  await on("projects/pages", "python3", "-m", "unittest");
  const plans = ["test", "--plan", "write 1 (POST /)", "--run", "python3 function.py"];
  assert.match(
    await on("projects/pages", "npx", "drover", ...plans),
    /(\d+) executed, \1 with the same final state/,
  );

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

const pathsIn = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((file) => join(folder, file))
    .filter((file) => statSync(file).isFile())
    .sort();

/** The contents of all files in a folder, by path. */
const filesIn = (folder: string): Readonly<Record<string, string>> =>
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
  await on("node", "names.mjs");
  await on("node", "src/across-subpaths.ts");
  await on("node", "--eval", 'require("drover").defineResource.call');
  const resolutions = [
    ["--module", "nodenext"],
    ["--module", "node16"],
    ["--module", "preserve", "--moduleResolution", "bundler"],
  ];
  await Promise.all(resolutions.map((words) => on("npx", "tsc", "--noEmit", ...words)));
  // Other packages' declarations have errors of their own: @kubernetes/client-node imports one without types.
  await step("check the declarations themselves", async () => {
    const { output } = await run(["npx", "tsc", "--noEmit", "--skipLibCheck", "false"]);
    assert.doesNotMatch(output, /^(src|node_modules\/drover)\//m);
  });
}
