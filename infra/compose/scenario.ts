import { setTimeout as delay } from "node:timers/promises";
import { composeAccess } from "./access.ts";
import { allReady, type BucketObjects, bucketObjects, expectRefusals } from "./bucket-objects.ts";
import type { Checks } from "./checks.ts";
import type { Container, Project } from "./containers.ts";
import { expectLocked } from "./locked.ts";
import { expectBuckets } from "./s3-buckets.ts";

const apiServer = "http://127.0.0.1:8001";
const replicas = 3;
const many = Array.from({ length: 30 }, (_, i) => `many-${i}`);
const processes = ["sandbox", "bridge", "bucket"];

/** How long anything may take before the test gives up; nothing is measured by it. */
const patience = (): AbortSignal => AbortSignal.timeout(60_000);

/** The use of the containers, from the first start to an orderly stop. */
export async function runScenario(checks: Checks, project: Project): Promise<void> {
  const { token } = await composeAccess();
  const objects = bucketObjects(apiServer, token);
  await start(checks, project);
  await checks.check("the API server's port refuses web pages, and programs without the token", () =>
    expectRefusals(apiServer, token),
  );
  await checks.check("a Bucket becomes Ready, and the S3 server has the bucket", async () => {
    await objects.create("first");
    await objects.until(allReady(["first"]), patience());
    await expectBuckets(project, (names) => names.has("first"));
  });
  await scale(checks, project, objects);
  await checks.check("deleted Buckets are gone, from the S3 server too", async () => {
    await Promise.all(["first", ...many].map((name) => objects.delete(name)));
    await objects.until((all) => all.size === 0, patience());
    await expectBuckets(project, (names) => names.size === 0);
  });
  await checks.check("every process ends by itself when asked", async () => {
    for (const service of [...processes].reverse()) await stop(project, service);
  });
}

async function start({ check }: Checks, project: Project): Promise<void> {
  await check("every image builds from docker-compose.yml", async () => {
    await project.compose("build");
  });
  await check("compose brings everything up, and every health check passes", async () => {
    await project.up();
    for (const service of ["valkey", "s3", ...processes])
      await project.untilHealthy(await project.one(service), patience());
    const crds = await project.one("crds");
    const code = (await project.podman("wait", crds.id)).trim();
    if (code !== "0") throw new Error(`crds ended with ${code}:\n${await project.logs(crds)}`);
  });
  await check("no process is root, has a capability, can gain one, or writes to its image", async () => {
    for (const service of processes) await expectLocked(project, await project.one(service));
  });
}

async function scale({ check }: Checks, project: Project, objects: BucketObjects): Promise<void> {
  await check(`${replicas} replicas start, and the first one goes on`, async () => {
    const before = await project.one("bucket");
    await project.up("--no-recreate", "--scale", `bucket=${replicas}`);
    const now = await project.containers("bucket");
    if (now.length !== replicas) throw new Error(`There are ${now.length}.`);
    if (!now.some(({ id, pid }) => id === before.id && pid === before.pid))
      throw new Error("It was replaced.");
    await Promise.all(now.map((replica) => project.untilHealthy(replica, patience())));
  });
  await check(`${many.length} Buckets become Ready, though a replica is killed meanwhile`, async () => {
    const { pid } = await project.one("bucket");
    await Promise.all(many.map((name) => objects.create(name)));
    await objects.until((all) => many.some((name) => allReady([name])(all)), patience());
    process.kill(pid, "SIGKILL");
    await objects.until(allReady(many), patience());
    await expectBuckets(project, (names) => many.every((name) => names.has(name)));
  });
  await check("more than one replica did the work", async () => {
    const runs = await Promise.all((await project.containers("bucket")).map(runsOf));
    if (runs.filter((count) => count > 0).length < 2) throw new Error(`Runs by replica: ${runs.join(", ")}.`);
  });
  await check("the killed replica is started again", async () => {
    const giveUp = patience();
    const restarted = async () => (await project.containers("bucket")).some(({ restarts }) => restarts > 0);
    while (!(await restarted())) {
      if (giveUp.aborted) throw new Error("None was ever started again.");
      await delay(50);
    }
    for (const replica of await project.containers("bucket")) await project.untilHealthy(replica, patience());
  });
}

/** Stops a service as compose does (dependent services first), and checks its exit codes. */
async function stop(project: Project, service: string): Promise<void> {
  const ids = (await project.containers(service)).map(({ id }) => id);
  await project.podman("stop", "--time", "30", ...ids);
  for (const { name, exitCode } of await project.containers(service))
    if (exitCode !== 0) throw new Error(`${name} ended with ${exitCode}.`);
}

/** The runs that a replica has settled, by its own count. */
async function runsOf({ address, running }: Container): Promise<number> {
  if (!running || address === undefined) return 0;
  const text = await (await fetch(`http://${address}:8080/metrics`)).text();
  return [...text.matchAll(/^drover_runs_total\{.*\} (\d+)$/gm)].reduce(
    (sum, [, count]) => sum + Number(count),
    0,
  );
}
