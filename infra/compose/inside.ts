/**
 * The part of the compose test that runs in namespaces of its own: `inside.ts <folder> <command of compose as JSON>`.
 * Everything it makes is in the folder or in the namespaces; its counts go to `counts.json` in the folder.
 */
import { writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { openChecks } from "./checks.ts";
import { runOnCluster } from "./cluster-profile.ts";
import { openProject, type Project } from "./containers.ts";
import { composeCommand } from "./host-tools.ts";
import { buildLocalImages } from "./local-images.ts";
import { setUpNamespace } from "./namespace.ts";
import { runScenario } from "./scenario.ts";
import { takeDown } from "./take-down.ts";

const root = resolve(import.meta.dirname, "../..");
const [dir, command] = process.argv.slice(2);
if (dir === undefined || command === undefined)
  throw new Error("Run infra/test-compose.ts, which starts this.");

const checks = openChecks();
const open = await checks.check("containers run here, on images made of what this machine has", () =>
  openHere(dir, command),
);
if (open !== undefined) {
  const project = open();
  await runScenario(checks, project);
  if (checks.counts.failed > 0) await showLogs(project);
  await takeDown(checks, project);
  await runOnCluster(checks, dir, open);
}
await writeFile(join(dir, "counts.json"), JSON.stringify(checks.counts));

/** Opens the project, with more for its environment. */
type Open = (more?: Readonly<Record<string, string>>) => Project;

async function openHere(dir: string, command: string): Promise<Open> {
  const podman = await setUpNamespace(dir);
  const images = await buildLocalImages({ dir, env: podman });
  const env = {
    ...podman,
    DROVER_BASE_IMAGE: images.base,
    DROVER_VALKEY_IMAGE: images.valkey,
    DROVER_S3_IMAGE: images.s3,
  };
  const compose = composeCommand.parse(JSON.parse(command));
  return (more = {}) => openProject({ command: compose, root, env: { ...env, ...more } });
}

async function showLogs(project: Project): Promise<void> {
  for (const container of await project.containers())
    console.error(
      `--- ${container.name} (exit code ${container.exitCode})\n${await project.logs(container, 30)}`,
    );
}
