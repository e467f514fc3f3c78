/** Which regions of the shipped files each test file enters, itself or by a process that it starts. */
import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { z } from "zod";
import { withProbes } from "./probes.ts";
import { shippedFiles } from "./shipped.ts";
import { makeTree } from "./tree.ts";

/** Everything that is shipped. */
export const SHIPPED = ["packages/*", "apps/*", "functions/*", "examples/demo"];

const testFileSchema = z.object({
  file: z.string(),
  /** Git's hash of it: another text may enter other regions. */
  hash: z.string(),
  /** In a tree with probes, on a machine with other things to do. */
  milliseconds: z.number(),
  passed: z.boolean(),
  /** `path:start` of each region. */
  entered: z.array(z.string()),
});
/** What the tests have entered, as it is kept between two commands. */
const enteredSchema = z.object({
  testFiles: z.array(testFileSchema),
  /** By processes that did not get the environment of their test. */
  stray: z.array(z.string()),
});
export type Entered = z.infer<typeof enteredSchema>;
export type TestFile = z.infer<typeof testFileSchema>;

const reportSchema = z.object({
  testResults: z.array(
    z.object({ name: z.string(), status: z.string(), startTime: z.number(), endTime: z.number() }),
  ),
});

/**
 * Where what is known of the last commit is kept, for as long as no shipped file changes. Throws where the work tree is
 * another one: all of it is found out in clones.
 */
export async function stateFolder(repository: string): Promise<string> {
  const changed = git(
    repository,
    "status",
    "--porcelain",
    "--",
    "packages",
    "apps",
    "functions",
    "examples",
    "tools",
    "verification",
    ":!*/results.md",
  );
  if (changed !== "") {
    throw new Error(
      `The last commit is what is tested. Commit what was changed since, or put it aside:\n${changed}`,
    );
  }
  const digest = createHash("sha256");
  for (const path of shippedFiles(repository, SHIPPED))
    digest.update(`${path}\0`).update(await readFile(join(repository, path)));
  const folder = join(repository, ".cache/mutation", digest.digest("hex").slice(0, 16));
  await mkdir(folder, { recursive: true });
  return folder;
}

/** What all tests enter, kept in a state folder. Only test files that are new or were changed since it was found out are run again. */
export async function keptEntered(
  state: string,
  repository: string,
  env: NodeJS.ProcessEnv,
): Promise<Entered> {
  const kept = join(state, "entered.json");
  const before = enteredSchema.parse(
    JSON.parse(await readFile(kept, "utf8").catch(() => '{"testFiles":[],"stray":[]}')),
  );
  const hashes = testHashes(repository);
  const valid = before.testFiles.filter(({ file, hash }) => hashes.get(file) === hash);
  const missing = [...hashes.keys()].filter((path) => !valid.some(({ file }) => file === path));
  if (missing.length === 0) return before;
  console.error(`Running ${missing.length} test files to see what they enter ...`);
  const found = await findEntered(repository, env, missing);
  const entered = {
    testFiles: [...valid, ...found.testFiles],
    stray: [...new Set([...before.stray, ...found.stray])],
  };
  await writeFile(kept, JSON.stringify(entered));
  return entered;
}

const git = (repository: string, ...words: readonly string[]): string =>
  execFileSync("git", words, { cwd: repository }).toString();

/** Of what `npm test` runs: vitest itself finds the files, for it knows what its configuration leaves out. */
function testHashes(repository: string): ReadonlyMap<string, string> {
  const program = join(repository, "node_modules/vitest/vitest.mjs");
  const listed = execFileSync(process.execPath, [program, "list", "--filesOnly"], { cwd: repository });
  const tests = new Set(listed.toString().split("\n"));
  const files = git(repository, "ls-tree", "-r", "--format=%(objectname) %(path)", "HEAD");
  const entries = files.split("\n").map((line): [string, string] => [line.slice(41), line.slice(0, 40)]);
  return new Map(entries.filter(([path]) => path !== "" && tests.has(path)));
}

/** Runs test files in a tree with probes. */
async function findEntered(
  repository: string,
  env: NodeJS.ProcessEnv,
  tests: readonly string[],
): Promise<Entered> {
  await using tree = await makeTree(repository);
  const probes = join(tree.temporary, "probes");
  await mkdir(probes);
  for (const path of shippedFiles(tree.root, SHIPPED)) {
    const file = join(tree.root, path);
    await writeFile(file, withProbes(path, await readFile(file, "utf8"), join(probes, STRAY)));
  }
  await writeFile(join(tree.root, "probes.setup.ts"), setup(tree.root, probes));
  await writeFile(join(tree.root, "vitest.probes.config.ts"), CONFIG);
  const report = join(tree.temporary, "report.json");
  const words = ["--config=vitest.probes.config.ts", "--reporter=json"];
  await vitest(tree.root, [...words, `--outputFile.json=${report}`, ...tests], {
    ...env,
    TMPDIR: tree.temporary,
    PROBES_FILE: join(probes, STRAY),
  });
  const { testResults } = reportSchema.parse(JSON.parse(await readFile(report, "utf8")));
  const entered = await readEntered(probes);
  const hashes = testHashes(tree.root);
  return {
    testFiles: testResults.map(({ name, status, startTime, endTime }) => {
      const file = relative(tree.root, name);
      return {
        file,
        hash: hashes.get(file) ?? "",
        milliseconds: Math.ceil(endTime - startTime),
        passed: status === "passed",
        entered: entered.get(file) ?? [],
      };
    }),
    stray: entered.get(STRAY) ?? [],
  };
}

const STRAY = "of-no-test";

const setup = (root: string, probes: string): string => `
import { relative } from "node:path";
import { expect } from "vitest";
const { testPath } = expect.getState();
process.env.PROBES_FILE = ${JSON.stringify(`${probes}/`)} + relative(${JSON.stringify(root)}, testPath).replaceAll("/", "+");
globalThis.enteredRegions = undefined;
`;

const CONFIG = `
import { mergeConfig } from "vitest/config";
import config from "./vitest.config.ts";
export default mergeConfig(config, { test: { setupFiles: ["./probes.setup.ts"] } });
`;

async function readEntered(folder: string): Promise<ReadonlyMap<string, string[]>> {
  const names = await readdir(folder);
  const read = async (name: string): Promise<[string, string[]]> => [
    name.replaceAll("+", "/"),
    linesOf(await readFile(join(folder, name), "utf8")),
  ];
  return new Map(await Promise.all(names.map(read)));
}

/** Several processes write into one file, a line at a time. */
const linesOf = (text: string): string[] => [...new Set(text.split("\n").filter((line) => line !== ""))];

async function vitest(root: string, words: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  const command = [join(root, "node_modules/vitest/vitest.mjs"), "run", "--isolate", ...words];
  const child = spawn(process.execPath, command, { cwd: root, env, stdio: ["ignore", "inherit", "inherit"] });
  await new Promise((resolve, reject) => child.on("close", resolve).on("error", reject));
}
