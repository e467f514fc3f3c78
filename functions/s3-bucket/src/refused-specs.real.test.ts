import { type RealCluster, startRealCluster } from "@drover/real-cluster";
import { sharedServer, type TestCluster, testCluster } from "@drover/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bucketManifest, startBuckets } from "./testing/bucket-cluster.ts";
import { refusedSpecs } from "./testing/refused-specs.ts";

let servers: RealCluster;
let cluster: TestCluster;
beforeAll(async () => {
  servers = await startRealCluster();
  cluster = await testCluster(startBuckets, { servers: sharedServer(servers) });
});
afterAll(async () => {
  await cluster.close();
  await servers.stop();
});

test.each(refusedSpecs)(
  "a real API server refuses $name, if a CRD can",
  async ({ spec, corrected, atServer }) => {
    const refusal = await cluster.apply(bucketManifest("a", spec)).then(
      () => undefined,
      (error: unknown) => String(error),
    );
    expect(refusal).toEqual(atServer && expect.stringContaining(atServer));
    await cluster.apply(bucketManifest("b", corrected));
  },
);
