import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort, isRunning, startRedis, startS3 } from "@drover/local-servers";
import { startSandbox } from "@drover/sandbox";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { inRepository } from "../repository.ts";

let dir: string;
const started: ChildProcess[] = [];
beforeEach(() => (dir = mkdtempSync(join(tmpdir(), "drover-start-"))));
afterEach(async () => {
  vi.unstubAllEnvs();
  for (const child of started.splice(0)) {
    const ended = child.exitCode !== null || child.signalCode !== null;
    if (!ended && child.kill("SIGKILL")) await once(child, "exit");
  }
  rmSync(dir, { recursive: true });
});

/** `drover start`, with nobody at a terminal. */
function drover(...args: string[]) {
  const main = inRepository("apps/cli/src/main.ts");
  const child = spawn(process.execPath, [main, "start", "--dir", join(dir, "run"), ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, FORCE_COLOR: undefined },
  });
  started.push(child);
  let text = "";
  child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (text += chunk.toString()));
  const ended = once(child, "close").then(() => child.exitCode ?? child.signalCode);
  return {
    child,
    ended,
    text: () => text,
    /** Until it has said this; not for longer than it lives. */
    says: async (what: RegExp): Promise<void> => {
      const said = vi.waitFor(() => expect(text).toMatch(what), { timeout: 100_000, interval: 50 });
      await Promise.race([said, ended.then(() => expect(text).toMatch(what))]);
    },
  };
}

interface Running {
  readonly pid: number;
  readonly processes: Readonly<Record<string, number>>;
}
const running = () => JSON.parse(readFileSync(join(dir, "run/running.json"), "utf8")) as Running;
const allGone = (pids: readonly number[]) =>
  vi.waitFor(() => expect(pids.filter(isRunning)).toEqual([]), { timeout: 30_000 });

describe("drover start", { timeout: 240_000 }, () => {
  it("comes from nothing to a bucket that is ready, survives a crash of the function, and leaves nothing at Ctrl-C", async () => {
    const { child, says, text, ended } = drover();
    await says(/Ctrl-C here stops everything/);
    const life = [
      /Redis started/,
      /S3 server started/,
      /API server started/,
      /CRD buckets\.s3\.drover\.dev accepted/,
      /examples\/bucket\.yaml created/,
      /key woken by the bridge/,
      /finalizer drover\.dev\/buckets\.s3\.drover\.dev persisted/,
      /bucket hello-drover exists, says the S3 server/,
      /Ready: /,
      /bucket ready: hello-drover, [\d.]+ s after its object was created/,
    ];
    for (const step of life) expect(text()).toMatch(step);
    expect(text()).toMatch(/^[^\u0000-\u0009\u000b-\u001f\u007f]*$/);

    const { pid, processes } = running();
    expect(pid).toBe(child.pid);
    expect(Object.keys(processes).sort()).toEqual(["api-server", "bridge", "redis", "s3", "s3-bucket"]);

    const second = drover();
    expect(await second.ended).toBe(1);
    expect(second.text()).toContain(`running here already (process ${String(pid)}`);

    process.kill(processes["s3-bucket"]!, "SIGKILL");
    await says(/The bucket function is back/);
    const all = Object.values({ ...running().processes, killed: processes["s3-bucket"]! });

    child.kill("SIGINT");
    expect(await ended).toBe(0);
    expect(text()).toContain("Everything that was started here is stopped.");
    // The function and the bridge drain while the servers still run.
    expect(
      text()
        .match(/(?<=Stopped: )[\w ]+\w/g)!
        .slice(0, 2)
        .sort(),
    ).toEqual(["the bridge", "the bucket function"]);
    await allGone(all);
  });

  it("that was killed leaves no process, and the next one takes over what is left", async () => {
    const first = drover();
    await first.says(/bucket function started/);
    const { processes } = running();
    expect(Object.keys(processes)).toHaveLength(5);
    first.child.kill("SIGKILL");
    await allGone(Object.values(processes));

    const next = drover();
    await next.says(/bucket ready/);
    expect(next.text()).toContain(`The run of process ${String(first.child.pid)} ended without cleaning up`);

    // What everything stands on is gone: it ends, and says why.
    const rest = running().processes;
    process.kill(rest["api-server"]!, "SIGKILL");
    expect(await next.ended).toBe(1);
    expect(next.text()).toContain("The API server ended by itself");
    await allGone(Object.values(rest));
  });

  it("is stopped while it is still starting, and leaves no process", async () => {
    const { child, says, ended } = drover();
    await says(/Redis started/);
    const { processes } = running();
    child.kill("SIGINT");
    expect(await ended).toBe(0);
    await allGone(Object.values(processes));
  });
});

it("uses what it is given, and leaves it running with the objects in it", { timeout: 240_000 }, async () => {
  const [sandbox, redis, s3] = await Promise.all([
    startSandbox({}),
    startRedis({ persistence: true }),
    startS3(),
  ]);
  try {
    const kubeconfig = join(dir, "kubeconfig");
    writeFileSync(kubeconfig, sandbox.kubeconfig());
    vi.stubEnv("AWS_ACCESS_KEY_ID", s3.accessKeyId);
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", s3.secretAccessKey);
    const { child, says, text, ended } = drover(
      "--kubeconfig",
      kubeconfig,
      "--redis",
      redis.url,
      "--s3",
      s3.url,
    );
    await says(/bucket ready/);
    expect(Object.keys(running().processes).sort()).toEqual(["bridge", "s3-bucket"]);
    child.kill("SIGINT");
    expect(await ended).toBe(0);
    expect(text()).toContain("Bucket objects in the cluster are left as they are");
    expect(sandbox.objects("buckets.s3.drover.dev").map(({ metadata }) => metadata.name)).toEqual(["hello"]);
    expect(isRunning(redis.pid)).toBe(true);
  } finally {
    await Promise.all([sandbox.close(), redis.stop(), s3.stop()]);
  }
});

describe("what cannot be used is refused, with what to do:", () => {
  it.each([
    ["an option that there is not", ["--redsi", "redis://127.0.0.1"], "Did you mean --redis?"],
    ["a kubeconfig that is not there", ["--kubeconfig", "/no/such/file"], "There is no such file"],
    ["a Redis URL that is none", ["--redis", "localhost"], "redis://127.0.0.1:6379"],
    ["an S3 URL that is none", ["--s3", "s3://bucket"], "http://127.0.0.1:9000"],
    ["a context of no kubeconfig", ["--context", "home"], "give --kubeconfig too"],
    ["an argument", ["now"], "too many arguments"],
  ])("%s", async (_what, args, message) => {
    const { ended, text } = drover(...args);
    expect(await ended).toBe(1);
    expect(text()).toContain(message);
  });

  it("servers that do not answer; what was started beside them is stopped", async () => {
    const port = await freePort();
    for (const option of ["redis", "s3"]) {
      const scheme = option === "s3" ? "http" : option;
      const { ended, text } = drover(`--${option}`, `${scheme}://127.0.0.1:${String(port)}`);
      expect(await ended).toBe(1);
      expect(text()).toContain(`leave --${option} out to have one started`);
    }
  });
});
