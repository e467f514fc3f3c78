import { type RealCluster, startRealCluster } from "@drover/real-cluster";
import { execFileSync } from "node:child_process";
import { resolve } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startModule } from "../../../apps/cli/src/testing/dev-process.fixture.ts";

let cluster: RealCluster;
beforeAll(async () => {
  cluster = await startRealCluster();
}, 3_600_000);
afterAll(() => cluster.stop());

it(
  "uses a real cluster, continues with the object of an earlier run, and deletes it",
  { timeout: 240_000 },
  async () => {
    const start = () => startModule("examples/demo/src/main.ts", ["--kubeconfig", cluster.kubeconfig]);
    const crd = resolve(import.meta.dirname, "../../../functions/s3-bucket/deploy/crd.yaml");
    execFileSync(cluster.kubectl, ["apply", "-f", crd]);
    const first = start();
    await first.next(/Bucket default\/hello created/);
    await first.next(/run {4}default\/hello done/);
    first.kill("SIGINT");
    expect(await first.ended).toBe(0);
    expect(first.output()).toContain("Given back: default/hello.");

    // The new S3 server has no buckets, so the bucket is created again.
    const second = start();
    const [, url = ""] = await second.next(/The S3 server is (http\S+)\./);
    await second.next(/run {4}default\/hello done/);
    const status = async (): Promise<number> =>
      (await fetch(`${url}/hello-drover`, { method: "HEAD" })).status;
    await expect.poll(status).toBe(200);
    const deletion = ["delete", "bucket", "hello", "--wait=false"];
    execFileSync(cluster.kubectl, deletion);
    await expect.poll(status).toBe(404);
    execFileSync(cluster.kubectl, ["wait", "--for=delete", "bucket/hello", "--timeout=60s"]);
    second.kill("SIGINT");
    expect(await second.ended).toBe(0);
  },
);
