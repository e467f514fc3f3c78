import { startRedis } from "@drover/local-servers";
import { startSandbox } from "@drover/sandbox";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { here, loggedProcess } from "./logged-process.fixture.ts";

it("ends with 1 where a part could not be closed, which its log names, and closes the others", async () => {
  const folder = mkdtempSync(join(tmpdir(), "drover-process-"));
  const [sandbox, redis] = await Promise.all([startSandbox({}), startRedis({ persistence: false })]);
  onTestFinished(async () => {
    await Promise.all([sandbox.close(), redis.stop()]);
    rmSync(folder, { recursive: true });
  });
  const kubeconfig = join(folder, "kubeconfig");
  writeFileSync(kubeconfig, sandbox.kubeconfig());
  const env = { DROVER_REDIS_URL: redis.url, DROVER_KUBECONFIG: kubeconfig };
  const { code, logged } = await loggedProcess(`
    import { processSettings } from "${here}function-settings.ts";
    import { runProcess } from "${here}run-process.ts";
    import { readSettings } from "${here}settings.ts";
    const settings = () => readSettings(processSettings, ${JSON.stringify(env)});
    await runProcess("test", settings, ({ closing, log, redis }) => {
      closing("earlier", async () => log.info({ answer: await redis.ping() }, "Closed"));
      closing("stuck", () => Promise.reject(new Error("it is stuck")));
      process.kill(process.pid, "SIGTERM");
    });`);
  expect(code).toBe(1);
  // The line that says that it stops may come at any place: the signal is its own.
  const ending = logged.filter((line) => !JSON.stringify(line).includes("Stopping: ")).slice(-3);
  expect(ending).toMatchObject([
    { level: "error", name: "stuck", err: { message: "it is stuck" }, msg: "Could not close" },
    { answer: "PONG", msg: "Closed" },
    { level: "info", msg: "Stopped" },
  ]);
});
