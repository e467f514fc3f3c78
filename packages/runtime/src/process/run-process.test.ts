import { startRedis } from "@drover/local-servers";
import { startSandbox } from "@drover/sandbox";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { folderOfTest } from "../../../testing/src/folder.fixture.ts";
import { here, loggedProcess } from "./logged-process.fixture.ts";

/** Runs a process with this `main` to its end. `main` may use `port`, the port of its server. */
async function ended(main: string, settings: Readonly<Record<string, string>> = {}) {
  const folder = folderOfTest();
  const [sandbox, redis] = await Promise.all([startSandbox({}), startRedis({ persistence: false })]);
  onTestFinished(async () => {
    await Promise.all([sandbox.close(), redis.stop()]);
  });
  const kubeconfig = join(folder, "kubeconfig");
  writeFileSync(kubeconfig, sandbox.kubeconfig());
  const env = { DROVER_REDIS_URL: redis.url, DROVER_KUBECONFIG: kubeconfig, ...settings };
  const { code, logged } = await loggedProcess(`
    import { processSettings } from "${here}function-settings.ts";
    import { runProcess } from "${here}run-process.ts";
    import { readSettings } from "${here}settings.ts";
    import { subscribe } from "node:diagnostics_channel";
    let port;
    subscribe("tracing:net.server.listen:asyncEnd", ({ server }) => (port = server.address().port));
    const settings = () => readSettings(processSettings, ${JSON.stringify(env)});
    await runProcess("test", settings, ${main});`);
  return { code, logged };
}

/** Expects these log lines, in any order: a line that is written at the exit may overtake an earlier one. */
function expectLines(logged: readonly unknown[], lines: readonly object[]): void {
  for (const line of lines) expect(logged).toContainEqual(expect.objectContaining(line));
}
const error = (message: string) => ({ err: expect.objectContaining({ message }) as unknown });

it("exits with 1 if a part could not be closed, which is logged, and closes the others", async () => {
  const { code, logged } = await ended(`({ closing, log, redis }) => {
    closing("earlier", async () => log.info({ answer: await redis.ping() }, "Closed"));
    closing("stuck", () => Promise.reject(new Error("it is stuck")));
    process.kill(process.pid, "SIGTERM");
  }`);
  expect(code).toBe(1);
  expectLines(logged, [
    { level: "error", name: "stuck", ...error("it is stuck"), msg: "Could not close" },
    { answer: "PONG", msg: "Closed" },
    { level: "info", msg: "Stopped" },
  ]);
});

it("exits with 1 once a part fails, after the same shutdown as for SIGTERM", async () => {
  const { code, logged } = await ended(`({ closing, log, stopping, fail }) => {
    stopping.addEventListener("abort", () => log.info("Stopping"));
    closing("part", async () => log.info({ stopping: stopping.aborted }, "Closed"));
    setTimeout(() => fail(new Error("It is over.")), 10);
  }`);
  expect(code).toBe(1);
  expectLines(logged, [
    { level: "fatal", ...error("It is over.") },
    { msg: "Stopping" },
    { stopping: true, msg: "Closed" },
  ]);
});

it("is ready only after its start", async () => {
  const { code, logged } = await ended(`async ({ log }) => {
    const ready = () => fetch(\`http://127.0.0.1:\${port}/readyz\`).then(({ status }) => status);
    log.info({ status: await ready() }, "Beginning");
    void (async () => {
      while ((await ready()) !== 200);
      log.info("Ready");
      process.kill(process.pid, "SIGTERM");
    })();
  }`);
  expect(code).toBe(0);
  expectLines(logged, [{ status: 503, msg: "Beginning" }, { msg: "Ready" }]);
});

it("uses only the context of its settings", async () => {
  const { code, logged } = await ended("() => undefined", { DROVER_KUBE_CONTEXT: "absent" });
  expect(code).toBe(1);
  expectLines(logged, [{ level: "fatal", msg: expect.stringContaining('no context "absent"') as unknown }]);
});

/** An unusual form of a loopback address. */
const elsewhere = { DROVER_HTTP_HOST: "0x7f.1" };
it.each<[number, string, Record<string, string>]>([
  [200, "on loopback", {}],
  [401, "on other addresses", elsewhere],
  [401, "if the settings require it", { DROVER_METRICS_AUTH: "kubernetes" }],
  [200, "on other addresses, if the settings allow it", { ...elsewhere, DROVER_METRICS_AUTH: "none" }],
])("answers %i to a read of metrics without a token %s", async (status, _where, settings) => {
  const { logged } = await ended(
    `async ({ log }) => {
      const { status } = await fetch(\`http://127.0.0.1:\${port}/metrics\`);
      log.info({ status }, "Read");
      process.kill(process.pid, "SIGTERM");
    }`,
    settings,
  );
  expectLines(logged, [{ status, msg: "Read" }]);
});
