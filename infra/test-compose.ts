/**
 * Builds the images and runs docker-compose.yml for real, without Docker: buildah, podman and podman-compose, in mount,
 * network and process namespaces of their own. See `compose/scenario.ts` for what is checked.
 *
 *     node infra/test-compose.ts
 *
 * Ends with `N passed, N failed`, and leaves nothing behind, whatever happens: when this process ends, the namespaces
 * and all that is in them end too.
 */
import { isRunning, ownNamespaces, processesWith, spawnTied } from "@drover/local-servers";
import { globSync } from "node:fs";
import { mkdir, readFile, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { bundle } from "./bundle.ts";
import { composeAccess } from "./compose/access.ts";
import { type Counts, counts as countsSchema, openChecks } from "./compose/checks.ts";
import { ensureTools } from "./compose/host-tools.ts";

const root = resolve(import.meta.dirname, "..");

const command = await ensureTools();
for (const name of ["bridge", "sandbox", "s3-bucket", "crds"]) await bundle(name);
await composeAccess();
await removeAbandoned();
const dir = join(root, `.run/compose-${process.pid}`);
await mkdir(dir, { recursive: true });
try {
  const { check, counts } = openChecks(await runInside(dir));
  await check("outside its namespaces nothing is left", () => expectNothingOf(dir));
  console.log(`${counts.passed} passed, ${counts.failed} failed`);
  if (counts.failed > 0) process.exitCode = 1;
} finally {
  await rm(dir, { recursive: true, force: true });
}

/** Removes the files of killed runs. */
async function removeAbandoned(): Promise<void> {
  for (const name of globSync(".run/compose-*", { cwd: root })) {
    if (!isRunning(Number(name.split("-").pop())))
      await rm(join(root, name), { recursive: true, force: true });
  }
}

async function runInside(dir: string): Promise<Counts> {
  const [program, ...args] = ownNamespaces;
  const inside = resolve(import.meta.dirname, "compose/inside.ts");
  const logFile = join(root, ".run/test-compose.log");
  await rm(logFile, { force: true });
  const child = await spawnTied({
    name: "the compose test",
    command: program,
    args: [...args, process.execPath, inside, dir, JSON.stringify(command)],
    logFile,
    onLine: (line, stream) => (stream === "stdout" ? console.log(line) : console.error(line)),
  });
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => void child.stop({ graceMs: 0 }));
  const { code } = await child.exited;
  const written = await readFile(join(dir, "counts.json"), "utf8").catch(() => undefined);
  if (code !== 0 || written === undefined) return { passed: 0, failed: 1 };
  return countsSchema.parse(JSON.parse(written));
}

async function expectNothingOf(dir: string): Promise<void> {
  const mounts = (await readFile("/proc/self/mounts", "utf8"))
    .split("\n")
    .filter((line) => line.includes(dir));
  const left = [...mounts, ...(await processesWith(dir))];
  if (left.length > 0) throw new Error(`Left: ${left.join("; ")}`);
}
