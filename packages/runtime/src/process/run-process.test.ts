import { startRedis } from "@drover/local-servers";
import { startSandbox } from "@drover/sandbox";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { here, loggedProcess } from "./logged-process.fixture.ts";

/** Runs a process whose main is `main`, which may use the `port` at which it is served, to its end. */
async function ended(main: string, settings: Readonly<Record<string, string>> = {}) {
  const folder = mkdtempSync(join(tmpdir(), "drover-process-"));
  const [sandbox, redis] = await Promise.all([startSandbox({}), startRedis({ persistence: false })]);
  onTestFinished(async () => {
    await Promise.all([sandbox.close(), redis.stop()]);
    rmSync(folder, { recursive: true });
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

/** That a log has these lines. Their order is none: what is written as a process exits may overtake what was on its way. */
function expectLines(logged: readonly unknown[], lines: readonly object[]): void {
  for (const line of lines) expect(logged).toContainEqual(expect.objectContaining(line));
}
const error = (message: string) => ({ err: expect.objectContaining({ message }) as unknown });

it("ends with 1 where a part could not be closed, which its log names, and closes the others", async () => {
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

it("ends with 1 once something fails that it runs by, and stops and closes all as if it had been told to", async () => {
  const { code, logged } = await ended(`({ closing, log, stopping, fail }) => {
    stopping.addEventListener("abort", () => log.info("Told to stop"));
    closing("part", async () => log.info({ stopping: stopping.aborted }, "Closed"));
    setTimeout(() => fail(new Error("It is over.")), 10);
  }`);
  expect(code).toBe(1);
  expectLines(logged, [
    { level: "fatal", ...error("It is over.") },
    { msg: "Told to stop" },
    { stopping: true, msg: "Closed" },
  ]);
});

it("is not ready before all that it does has begun, and is then", async () => {
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

it("uses the context that its settings name, and no other", async () => {
  const { code, logged } = await ended("() => undefined", { DROVER_KUBE_CONTEXT: "absent" });
  expect(code).toBe(1);
  expectLines(logged, [{ level: "fatal", msg: expect.stringContaining('no context "absent"') as unknown }]);
});

/** This, too, is the machine's own address, but not as anybody writes it. */
const elsewhere = { DROVER_HTTP_HOST: "0x7f.1" };
it.each<[number, string, Record<string, string>]>([
  [200, "where it is served to its machine alone", {}],
  [401, "where others may reach it", elsewhere],
  [401, "where its settings say so", { DROVER_METRICS_AUTH: "kubernetes" }],
  [
    200,
    "though others may reach it, where its settings say so",
    { ...elsewhere, DROVER_METRICS_AUTH: "none" },
  ],
])("answers %i to who reads its metrics without a token %s", async (status, _where, settings) => {
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
