import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { type RealCluster, startRealCluster } from "@drover/real-cluster";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startDemoProcess } from "./testing/demo-process.ts";

let cluster: RealCluster;
let dir: string;
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "drover-start-real-"));
  cluster = await startRealCluster();
}, 3_600_000);
afterAll(async () => {
  await cluster.stop();
  rmSync(dir, { recursive: true });
});

it(
  "uses a real cluster, comes back to what it left there, and deletes it",
  { timeout: 240_000 },
  async () => {
    const args = ["--kubeconfig", cluster.kubeconfig];
    const first = startDemoProcess(join(dir, "run"), args);
    await first.waitForOutput(/bucket ready: hello-drover, .* after its object was created/);
    first.kill("SIGINT");
    expect(await first.ended).toBe(0);

    // The S3 server is a new one and has no buckets; the object says so, and the bucket is made anew.
    const second = startDemoProcess(join(dir, "run"), args);
    await second.waitForOutput(/bucket ready: hello-drover, .* after its object was applied/);
    await promisify(execFile)(cluster.kubectl, ["delete", "bucket", "hello", "--timeout=60s"]);
    await second.waitForOutput(/default\/hello: bucket hello-drover is gone from the S3 server/);
    expect(second.output()).toContain("its finalizer was removed, and the object is gone");
    second.kill("SIGINT");
    expect(await second.ended).toBe(0);
  },
);
