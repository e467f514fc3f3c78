/**
 * The part of the compose test that runs in namespaces of its own: `inside.ts <folder> <command of compose as JSON>`.
 * Everything it makes is in the folder or in the namespaces; its counts go to `counts.json` in the folder.
 */
import { writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { openChecks } from "./checks.ts";
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
const project = await checks.check("containers run here, on images made of what this machine has", () =>
  openHere(dir, command),
);
if (project !== undefined) {
  await runScenario(checks, project);
  if (checks.counts.failed > 0) await showLogs(project);
  await takeDown(checks, project);
}
await writeFile(join(dir, "counts.json"), JSON.stringify(checks.counts));

async function openHere(dir: string, command: string): Promise<Project> {
  const env = await setUpNamespace(dir);
  const images = await buildLocalImages({ dir, env });
  return openProject({
    command: composeCommand.parse(JSON.parse(command)),
    root,
    env: {
      ...env,
      DROVER_BASE_IMAGE: images.base,
      DROVER_VALKEY_IMAGE: images.valkey,
      DROVER_S3_IMAGE: images.s3,
    },
  });
}

async function showLogs(project: Project): Promise<void> {
  for (const container of await project.containers())
    console.error(
      `--- ${container.name} (exit code ${container.exitCode})\n${await project.logs(container, 30)}`,
    );
}
