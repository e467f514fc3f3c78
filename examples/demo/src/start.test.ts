import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort, isRunning, startRedis, startS3 } from "@drover/local-servers";
import { startSandbox } from "@drover/sandbox";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { waitUntilGone, type DemoProcess, startDemoProcess } from "./testing/demo-process.ts";
import { recordSigners } from "./testing/signed-requests.ts";
import { folderOfTest } from "../../../packages/testing/src/folder.fixture.ts";

let dir: string;
const started: DemoProcess[] = [];
beforeEach(() => (dir = folderOfTest()));
afterEach(async () => {
  vi.unstubAllEnvs();
  for (const drover of started.splice(0)) {
    drover.kill("SIGKILL");
    await drover.ended;
  }
});

function drover(...args: string[]): DemoProcess {
  const one = startDemoProcess(join(dir, "run"), args);
  started.push(one);
  return one;
}

describe("npm start", { timeout: 240_000 }, () => {
  it("comes from nothing to a bucket that is ready, survives a crash of the function, and leaves nothing at Ctrl-C", async () => {
    const { pid, kill, waitForOutput, output, ended, processes } = drover();
    await waitForOutput(/Ctrl-C here stops everything/);
    const life = [
      /Redis started/,
      /S3 server started/,
      /API server started/,
      /CRD buckets\.s3\.drover\.dev accepted/,
      /examples\/bucket\.yaml created/,
      /bucket function is deployed: one Pod shows that it starts/,
      /key woken by the bridge/,
      /the bucket function gets a Pod/,
      /finalizer drover\.dev\/buckets\.s3\.drover\.dev persisted/,
      /bucket hello-drover exists on the S3 server/,
      /Ready: /,
      /bucket ready: hello-drover, [\d.]+ s after its object was created/,
    ];
    for (const step of life) expect(output()).toMatch(step);
    expect(output()).toMatch(/^[^\u0000-\u0009\u000b-\u001f\u007f]*$/);

    const before = processes();
    const names = Object.keys(before).sort().join(" ");
    expect(names).toBe("api-server bridge deployer redis s3 s3-bucket");

    const second = drover();
    expect(await second.ended).toBe(1);
    expect(second.output()).toContain(`running here already (process ${String(pid)}`);

    process.kill(before["s3-bucket"]!, "SIGKILL");
    await waitForOutput(/the process of Pod .* ended; it is started again/);
    await waitForOutput(/ started again[^]*the bucket function runs: process \d+/);
    expect(processes()["s3-bucket"]).not.toBe(before["s3-bucket"]);
    await waitForOutput(/Pod .* is gone/);
    expect(output()).not.toMatch(/is not needed any more[^]*is started again/);
    const all = Object.values({ ...processes(), killed: before["s3-bucket"]! });

    kill("SIGINT");
    expect(await ended).toBe(0);
    expect(output()).toContain("Everything that was started here is stopped.");
    // The function and the bridge drain while the servers still run.
    const stopped = output().match(/(?<=Stopped: )[\w ]+\w/g) ?? [];
    expect(stopped.slice(0, 3).sort()).toEqual(["the bridge", "the deployer", "the node"]);
    await waitUntilGone(all);
  });

  it("that was killed leaves no process, and the next one takes over what is left", async () => {
    const first = drover();
    await first.waitForOutput(/the bucket function runs: process/);
    const left = Object.values(first.processes());
    expect(left).toHaveLength(6);
    first.kill("SIGKILL");
    await waitUntilGone(left);

    const next = drover();
    await next.waitForOutput(/bucket ready/);
    expect(next.output()).toContain(`The run of process ${String(first.pid)} ended without cleaning up`);

    // The demo ends, with the reason, when its API server has gone.
    const rest = next.processes();
    process.kill(rest["api-server"]!, "SIGKILL");
    expect(await next.ended).toBe(1);
    expect(next.output()).toContain("The API server ended by itself");
    await waitUntilGone(Object.values(rest));
  });

  it.each<[string, (started: DemoProcess) => void]>([
    ["is stopped", ({ kill }) => kill("SIGINT")],
    ["stops when its output is closed", ({ closeOutput }) => closeOutput()],
  ])("%s while it is still starting, and leaves no process", async (_what, end) => {
    const one = drover();
    await one.waitForOutput(/Redis started/);
    const all = Object.values(one.processes());
    end(one);
    expect(await one.ended).toBe(0);
    await waitUntilGone(all);
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
    const given = ["--kubeconfig", kubeconfig, "--redis", redis.url, "--s3", s3.url];
    const { kill, waitForOutput, output, ended, processes } = drover(...given);
    await waitForOutput(/bucket ready/);
    expect(Object.keys(processes()).sort()).toEqual(["bridge", "s3-bucket"]);
    kill("SIGINT");
    expect(await ended).toBe(0);
    expect(output()).toContain("Bucket objects in the cluster are left as they are");
    expect(sandbox.objects("buckets.s3.drover.dev").map(({ metadata }) => metadata.name)).toEqual(["hello"]);
    expect(isRunning(redis.pid)).toBe(true);
  } finally {
    await Promise.all([sandbox.close(), redis.stop(), s3.stop()]);
  }
});

describe(
  "a given S3 server is asked with the AWS credentials of the environment",
  { timeout: 240_000 },
  () => {
    const keys = { AWS_ACCESS_KEY_ID: "AKIDKEYS", AWS_SECRET_ACCESS_KEY: "secret" };
    it.each<[string, readonly string[], Readonly<Record<string, string>>, string]>([
      ["keys of a session", [], { ...keys, AWS_SESSION_TOKEN: "token" }, "AKIDKEYS token"],
      ["a profile, and a given Redis", ["--redis"], { AWS_PROFILE: "work" }, "AKIDPROFILE"],
      ["a profile, and a given cluster", ["--kubeconfig"], { AWS_PROFILE: "work" }, "AKIDPROFILE"],
    ])("%s", async (_what, given, environment, signer) => {
      mkdirSync(join(dir, ".aws"));
      const profile = "[work]\naws_access_key_id = AKIDPROFILE\naws_secret_access_key = secret\n";
      writeFileSync(join(dir, ".aws/credentials"), profile);
      for (const name of Object.keys(process.env)) if (name.startsWith("AWS_")) vi.stubEnv(name, undefined);
      for (const [name, value] of Object.entries({ HOME: dir, ...environment })) vi.stubEnv(name, value);
      await using servers = new AsyncDisposableStack();
      const s3 = servers.adopt(await startS3(), (it) => it.stop());
      const front = servers.adopt(await recordSigners(s3.url), (it) => it.close());
      const args = ["--s3", front.url];
      if (given.includes("--redis"))
        args.push("--redis", servers.adopt(await startRedis({ persistence: false }), (it) => it.stop()).url);
      if (given.includes("--kubeconfig")) {
        const sandbox = servers.adopt(await startSandbox({}), (it) => it.close());
        writeFileSync(join(dir, "kubeconfig"), sandbox.kubeconfig());
        args.push("--kubeconfig", join(dir, "kubeconfig"));
      }
      const { kill, waitForOutput, ended } = drover(...args);
      await waitForOutput(/bucket ready/);
      expect([...front.signers]).toEqual([signer]);
      kill("SIGINT");
      expect(await ended).toBe(0);
    });
  },
);

describe("what cannot be used is refused, with what to do:", () => {
  it.each([
    ["an option that there is not", ["--redsi", "redis://127.0.0.1"], "Did you mean --redis?"],
    ["a kubeconfig that is not there", ["--kubeconfig", "/no/such/file"], "There is no such file"],
    ["a Redis URL that is none", ["--redis", "localhost"], "redis://127.0.0.1:6379"],
    [
      "nodes of a cluster that have nothing in common",
      ["--redis", "redis://a,rediss://b"],
      "scheme redis://",
    ],
    ["an S3 URL that is none", ["--s3", "s3://bucket"], "http://127.0.0.1:9000"],
    ["a context of no kubeconfig", ["--context", "home"], "give --kubeconfig too"],
    ["an argument", ["now"], "too many arguments"],
    ["a folder that cannot be made", ["--dir", "/proc/nope"], "Choose another one: npm start -- --dir"],
  ])("%s", async (_what, args, message) => {
    const { ended, output } = drover(...args);
    expect(await ended).toBe(1);
    expect(output()).toContain(message);
  });

  it("servers that do not answer; what was started beside them is stopped", async () => {
    const port = await freePort();
    const place = `127.0.0.1:${String(port)}`;
    for (const [option, url] of [
      ["redis", `redis://${place}`],
      ["redis", `redis://me:secret@${place},${place}`],
      ["s3", `http://${place}`],
    ] as const) {
      const { ended, output } = drover(`--${option}`, url);
      expect(await ended).toBe(1);
      expect(output()).toContain(`leave --${option} out to have one started`);
      expect(output()).not.toContain("secret");
    }
  });
});
