import { findRedis7, redisRequest, startRedis } from "@drover/local-servers";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { z } from "zod";

const root = fileURLToPath(new URL("../../../..", import.meta.url));
const suites = [
  "packages/queue/src/work-queue/bullmq-work-queue.test.ts",
  "packages/queue/src/client-go",
  "packages/queue/src/memory/agreement",
  "packages/queue/src/redis/redis-connection",
  "packages/queue/src/ledger/redis-ledger.test.ts",
  "packages/queue/src/redis/users/redis-users.test.ts",
  "packages/queue/src/ledger/repair.test.ts",
  "packages/queue/src/work-queue/work-queue.cluster.test.ts",
];
const report = z.object({
  numPassedTests: z.number(),
  testResults: z.array(
    z.object({
      name: z.string(),
      status: z.string(),
      assertionResults: z.array(
        z.object({
          fullName: z.string(),
          status: z.string(),
          failureMessages: z.array(z.string()).default([]),
        }),
      ),
    }),
  ),
});

/** Runs a program of the repository on Redis 7; answers what it printed. */
async function onRedis7(args: readonly string[]): Promise<string> {
  const { command } = await findRedis7();
  const env = { ...process.env, LOCAL_REDIS_SERVER: command, DROVER_TEST_CLUSTER: "" };
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: root, env, maxBuffer: 2 ** 26 }, (_error, stdout) =>
      resolve(stdout),
    );
  });
}

it("what the tests say of the newest server, they say of Redis 7", { timeout: 900_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), "drover-redis-7-"));
  const file = join(folder, "report.json");
  const options = ["--reporter=json", `--outputFile=${file}`];
  await onRedis7([`${root}/node_modules/vitest/vitest.mjs`, "run", ...options, ...suites]);
  const { numPassedTests, testResults } = report.parse(JSON.parse(await readFile(file, "utf8")));
  await rm(folder, { recursive: true });
  const failed = testResults.flatMap(({ name, status, assertionResults }) => [
    ...(status === "passed" ? [] : [name]),
    ...assertionResults
      .filter((test) => test.status !== "passed")
      .map(({ fullName, failureMessages }) => [fullName, ...failureMessages].join("\n")),
  ]);
  expect(failed).toEqual([]);
  expect(numPassedTests).toBeGreaterThan(250);
});

it("1,000 schedules of the simulation end well on Redis 7", { timeout: 300_000 }, async () => {
  const said = await onRedis7([
    "verification/queue-simulation/main.ts",
    "--schedules",
    "1000",
    "--seed",
    "7",
  ]);
  expect(said.trimEnd().split("\n").at(-1)).toMatch(/^1000 schedules, seed 7: 0 violations/);
});

it("is a Redis 7 indeed", async () => {
  const server = await startRedis({ persistence: false, executable: await findRedis7() });
  expect(await redisRequest(server.port, ["INFO", "server"])).toContain("\nredis_version:7.");
  await server.stop();
});
