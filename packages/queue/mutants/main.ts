/**
 * `npm run mutants`: breaks the queue once for each promise of docs/work-queue.md, and sees the tests notice.
 *
 * Every mutant is made in a copy of the package. A sentence without a mutant fails the command, and so does a mutant
 * that no test notices, or that changes lines that are not in the code any more. So do tests that fail on the code
 * without any mutant. `-- --only wake-1` runs those of one promise, `-- --only wake` those of all of that name.
 */
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { allMutants as all } from "./all-mutants.ts";
import type { Mutant } from "./mutant.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const { values } = parseArgs({ options: { only: { type: "string" } } });
const { only } = values;
const chosen = all.filter(
  ({ promise }) => only === undefined || promise === only || promise.startsWith(`${only}-`),
);
if (chosen.length === 0) {
  console.error(`There is no promise ${only}; docs/work-queue.md has their names.`);
  process.exit(2);
}

/** The tests that must notice a mutant, quickest first. */
const noticers: Readonly<Record<Mutant["noticedBy"], readonly string[]>> = {
  ledger: ["ledger/redis-ledger.test", "ledger/repair.test", "worker/lease-keeper.test"],
  processes: [
    "worker/dispatcher.test",
    "worker/lease-keeper.test",
    "worker/worker.test",
    "worker/endings.test",
    "worker/slots.test",
    "bullmq/bullmq-job-queue.test",
    "work-queue/bullmq-work-queue.test",
  ],
  law: ["bullmq/job-options.test"],
  scripts: ["redis/lua/keep-scripts-loaded.test", "redis/lua/hostile-calls.test"],
};
/** As in the root's configuration, which is not copied: it lists the tests of all packages. */
const timeouts = ["--testTimeout=60000", "--hookTimeout=120000", "--expect.poll.timeout=30000"];
/** Copies at work at once. */
const copies = 2;

const promises = [
  ...(await readFile(join(root, "docs/work-queue.md"), "utf8")).matchAll(/^- \*\*(\w+-\d+)\*\*/gm),
].map(([, name]) => name ?? "");
const problems = [
  ...promises
    .filter((name) => !all.some(({ promise }) => promise === name))
    .map((name) => `${name} has no mutant`),
  ...all
    .filter(({ promise }) => !promises.includes(promise))
    .map(({ promise }) => `${promise} is no promise`),
];
const queue = [...chosen];
let caught = 0;
const folders = await Promise.all(Array.from({ length: copies }, () => prepare()));
try {
  const tests = new Set(chosen.flatMap(({ noticedBy }) => noticers[noticedBy]));
  if (await fails(folders[0] ?? "", [...tests]))
    problems.push("the tests fail on the code without any mutant");
  else await Promise.all(folders.map(work));
} finally {
  await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true })));
}
for (const problem of problems) console.log(problem);
console.log(
  `${chosen.length} mutants of ${promises.length} promises: ${caught} caught, ${problems.length} problems`,
);
process.exitCode = problems.length === 0 ? 0 : 1;

/** Judges mutants in a copy, one after another, until none is left. */
async function work(copy: string): Promise<void> {
  for (let mutant = queue.shift(); mutant; mutant = queue.shift()) await judge(copy, mutant);
}

/** Copies the package to a folder of its own. */
async function prepare(): Promise<string> {
  const copy = await mkdtemp(join(tmpdir(), "drover-mutants-"));
  for (const file of ["package.json", "tsconfig.json", "eslint.config.js", "packages/queue"]) {
    await cp(join(root, file), join(copy, file), { recursive: true });
  }
  await symlink(join(root, "node_modules"), join(copy, "node_modules"));
  return copy;
}

async function judge(copy: string, mutant: Mutant): Promise<void> {
  const { promise, wrong, file, from, to, noticedBy } = mutant;
  const path = join(copy, "packages/queue/src", file);
  const source = await readFile(path, "utf8");
  if (source.split(from).length !== 2) {
    problems.push(`${promise} (${wrong}): its place in ${file} is not there exactly once`);
    return;
  }
  await writeFile(
    path,
    source.replace(from, () => to),
  );
  const noticed = await fails(copy, noticers[noticedBy]);
  await writeFile(path, source);
  if (noticed) caught++;
  else problems.push(`${promise}: no test notices that ${wrong}`);
  console.log(`${noticed ? "caught" : "MISSED"}  ${promise}  ${wrong}`);
}

/** True if some test fails. A mutant may loop for ever: that counts as noticed, too. */
async function fails(copy: string, tests: readonly string[]): Promise<boolean> {
  const vitest = join(root, "node_modules/vitest/vitest.mjs");
  const files = tests.map((test) => `packages/queue/src/${test}`);
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [vitest, "run", "--bail=1", "--maxWorkers=1", ...timeouts, ...files],
      { cwd: copy, timeout: 180_000, killSignal: "SIGKILL" },
      (error) => resolve(error !== null),
    );
  });
}
