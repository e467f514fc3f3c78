import { once } from "node:events";
import { rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { repositoryPath } from "../repository-path.ts";
import { closeInOrder } from "../close-in-order.ts";
import { runIn } from "../demo-run.fixture.ts";
import { superviseProcess } from "./supervised-process.ts";
import { startOwnRedis } from "../servers/redis.ts";
import { folderOfTest } from "../../../../packages/testing/src/folder.fixture.ts";

let dir: string;
let scene: ReturnType<typeof runIn>;
beforeEach(() => {
  dir = folderOfTest();
  scene = runIn(join(dir, "run"));
});
afterEach(async () => {
  await closeInOrder(scene.run.opened, scene.run.narrator);
  scene.run.folder.release();
});

const broken = async (): Promise<string> => {
  const { request } = scene.run;
  if (!request.signal.aborted) await once(request.signal, "abort");
  const why = request.reason();
  return why?.kind === "broken" ? why.problem : String(why?.kind);
};

/** Starts "the bridge": a server that answers requests with this expression, and logs a line that is not JSON. */
function supervise(answer: string) {
  const main = join(dir, "main.mjs");
  const program = `
    import { createServer } from "node:http";
    const server = createServer((_, response) => ${answer}).listen(0, "127.0.0.1", () => {
      const url = "http://127.0.0.1:" + server.address().port;
      console.log("{");
      console.log(JSON.stringify({ level: "info", msg: "Serving", url }));
    });`;
  writeFileSync(main, program);
  const described = { name: "the bridge", file: "bridge", environment: {}, onLine: () => undefined };
  return superviseProcess({ ...described, main: relative(repositoryPath(""), main) }, scene.run);
}

it("a process that cannot be started again ends the run, with what became of it and its log", async () => {
  const { printed } = scene;
  const { pid } = await supervise("response.end()");
  writeFileSync(join(dir, "main.mjs"), "process.exit(7);");
  process.kill(pid, "SIGKILL");
  expect(await broken()).toMatch(/the bridge ended before it was ready \(exit code 7\)/);
  expect(printed).toContain(`The bridge (process ${pid}) ended by itself: SIGKILL. Starting it again.`);
});

it("a Redis that cannot be started again ends the run, with why", async () => {
  const { run, printed } = scene;
  const redis = await startOwnRedis(run, run.request.signal);
  rmSync(join(run.folder.path, "redis"), { recursive: true });
  writeFileSync(join(run.folder.path, "redis"), "");
  process.kill(redis.pid, "SIGKILL");
  expect(await broken()).toMatch(/^Redis ended and cannot be started again: ./);
  expect(printed.join()).toMatch(/has ended\. Starting it again, with its data\./);
});

it("a process that dies again and again ends the run", async () => {
  const { printed } = scene;
  await supervise('response.end("", () => setImmediate(() => process.exit(3)))');
  expect(await broken()).toMatch(
    /^The bridge \(process \d+\) ended by itself: exit code 3\. That was 5 times in a minute\./,
  );
  expect(printed.filter((line) => line.endsWith("Starting it again."))).toHaveLength(4);
});
