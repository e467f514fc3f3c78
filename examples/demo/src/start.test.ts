import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { freePort, isRunning, startRedis, startS3 } from "@drover/local-servers";
import { startSandbox } from "@drover/sandbox";
import { execFileSync } from "node:child_process";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { installBuckets } from "./testing/install-buckets.ts";
import { folderOfTest } from "../../../packages/testing/src/folder.fixture.ts";
import {
  descendantsOf,
  startModule,
  waitUntilGone,
} from "../../../apps/cli/src/testing/dev-process.fixture.ts";
import { recordSigners } from "./testing/signed-requests.ts";

let dir: string;
beforeEach(() => (dir = folderOfTest()));

function demo(args: readonly string[] = [], env: Readonly<Record<string, string | undefined>> = {}) {
  const one = startModule("examples/demo/src/main.ts", args, env);
  onTestFinished(async () => {
    const all = descendantsOf(one.pid);
    if (isRunning(one.pid)) one.kill("SIGKILL");
    await one.ended;
    await waitUntilGone(all);
  });
  return one;
}
const hasBucket = async (url: string): Promise<boolean> =>
  (await fetch(`${url}/hello-drover`, { method: "HEAD" })).ok;
const sandboxWithBuckets = async (servers: AsyncDisposableStack): Promise<string> => {
  const sandbox = servers.adopt(await startSandbox({}), (it) => it.close());
  await installBuckets(sandbox);
  const kubeconfig = join(dir, "kubeconfig");
  writeFileSync(kubeconfig, sandbox.kubeconfig());
  return kubeconfig;
};

describe("npm start", { timeout: 240_000 }, () => {
  it("comes from nothing to a bucket, and leaves nothing at Ctrl-C", async () => {
    const one = demo();
    const [, url = ""] = await one.next(/The S3 server is (http\S+)\./);
    await one.next(/bucket\.yaml: Bucket default\/hello created/);
    await one.next(/run {4}default\/hello done/);
    await expect.poll(() => hasBucket(url)).toBe(true);
    const all = descendantsOf(one.pid);
    // drover dev, the S3 server, Redis, the function.
    expect(all.length).toBeGreaterThanOrEqual(4);
    one.kill("SIGINT");
    await one.next(/Stopping\./);
    expect(await one.ended).toBe(0);
    await waitUntilGone(all);
  });

  it.each<[string, (one: ReturnType<typeof demo>) => void]>([
    ["is killed", ({ kill }) => kill("SIGKILL")],
    ["stops when its output is closed", ({ closeOutput }) => closeOutput()],
  ])("that %s leaves no process", async (_what, end) => {
    const one = demo();
    await one.next(/The function runs: process/);
    const all = descendantsOf(one.pid);
    end(one);
    await one.ended;
    await waitUntilGone(all);
  });

  it("ends with the S3 server", async () => {
    const one = demo();
    await one.next(/run {4}default\/hello done/);
    const command = (pid: number): string =>
      execFileSync("ps", ["-o", "args=", "-p", String(pid)]).toString();
    const s3 = descendantsOf(one.pid).find((pid) => command(pid).includes("moto"));
    process.kill(s3 ?? 0, "SIGKILL");
    await one.next(/The S3 server ended by itself/);
    await one.ended;
  });
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
      const ofAws = Object.keys(process.env).filter((name) => name.startsWith("AWS_"));
      const env = {
        ...Object.fromEntries(ofAws.map((name) => [name, undefined])),
        HOME: dir,
        ...environment,
      };
      await using servers = new AsyncDisposableStack();
      const s3 = servers.adopt(await startS3(), (it) => it.stop());
      const front = servers.adopt(await recordSigners(s3.url), (it) => it.close());
      const args = ["--s3", front.url];
      if (given.includes("--redis"))
        args.push("--redis", servers.adopt(await startRedis({ persistence: false }), (it) => it.stop()).url);
      if (given.includes("--kubeconfig")) args.push("--kubeconfig", await sandboxWithBuckets(servers));
      const one = demo(args, env);
      await one.next(/run {4}default\/hello done/);
      await expect.poll(() => hasBucket(s3.url)).toBe(true);
      expect([...front.signers]).toEqual([signer]);
      one.kill("SIGINT");
      expect(await one.ended).toBe(0);
      expect(await hasBucket(s3.url)).toBe(true);
    });
  },
);

describe("npm start refuses, with what to do,", { timeout: 120_000 }, () => {
  it.each<[string, readonly string[], string]>([
    ["a mistyped option", ["--redsi", "x"], "(Did you mean --redis?)"],
    ["an S3 server that is no URL", ["--s3", "127.0.0.1"], "Give a URL such as http://127.0.0.1:9000"],
    ["an argument", ["now"], "too many arguments"],
  ])("%s", async (_what, args, message) => {
    const { ended, output } = demo(args);
    expect(await ended).toBe(1);
    expect(output()).toContain(message);
  });

  it("a context without a cluster, and servers that do not answer", async () => {
    const place = `127.0.0.1:${await freePort()}`;
    await using servers = new AsyncDisposableStack();
    const s3 = servers.adopt(await startS3(), (it) => it.stop());
    for (const [args, message] of [
      [["--s3", `http://${place}`], "leave --s3 out to have one started"],
      [["--s3", s3.url, "--redis", `redis://me:secret@${place}`], place],
      [["--s3", s3.url, "--context", "home"], "give --kubeconfig too"],
      [["--s3", s3.url, "--kubeconfig", resolve(dir, "absent")], "There is no such file"],
    ] as const) {
      const { ended, output } = demo(args);
      expect(await ended).toBe(1);
      expect(output()).toContain(message);
      expect(output()).not.toContain("secret");
    }
  });
});
