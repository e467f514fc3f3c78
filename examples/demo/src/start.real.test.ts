import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { type RealCluster, startRealCluster } from "@drover/real-cluster";
import { afterAll, beforeAll, expect, it } from "vitest";
import { folderOfFile } from "../../../packages/testing/src/folder.fixture.ts";
import { startDemoProcess } from "./testing/demo-process.ts";

let cluster: RealCluster;
const run = join(folderOfFile(), "run");
beforeAll(async () => {
  cluster = await startRealCluster();
}, 3_600_000);
afterAll(() => cluster.stop());

it(
  "uses a real cluster, continues with the object of an earlier run, and deletes it",
  { timeout: 240_000 },
  async () => {
    const args = ["--kubeconfig", cluster.kubeconfig];
    const first = startDemoProcess(run, args);
    await first.waitForOutput(/bucket ready: hello-drover, .* after its object was created/);
    first.kill("SIGINT");
    expect(await first.ended).toBe(0);

    // The new S3 server has no buckets, so the bucket is created again.
    const second = startDemoProcess(run, args);
    await second.waitForOutput(/bucket ready: hello-drover, .* after its object was applied/);
    await promisify(execFile)(cluster.kubectl, ["delete", "bucket", "hello", "--timeout=60s"]);
    await second.waitForOutput(/default\/hello: bucket hello-drover is gone from the S3 server/);
    expect(second.output()).toContain("its finalizer was removed, and the object is gone");
    second.kill("SIGINT");
    expect(await second.ended).toBe(0);
  },
);
