import type { DeployableFunction } from "@drover/controller";
import { type RealCluster, startRealCluster } from "@drover/real-cluster";
import { type FunctionUnderTest, sharedServer, testCluster, type TestCluster } from "@drover/testing";
import { afterAll, afterEach, beforeAll } from "vitest";

/**
 * One real API server without other controllers, for the tests of a file. Returns a function that opens a test's cluster on it.
 *
 * @param kinds removed after each test, in this order, as nothing else does: also objects with finalizers.
 */
export function onRealCluster(kinds: readonly { readonly apiVersion: string; readonly kind: string }[]) {
  let real: RealCluster;
  let opened: TestCluster | undefined;
  beforeAll(async () => {
    real = await startRealCluster();
  }, 900_000);
  afterAll(() => real.stop());
  afterEach(async () => {
    if (opened !== undefined) await removeAll(opened);
    await opened?.close();
    opened = undefined;
  });
  async function removeAll(cluster: TestCluster): Promise<void> {
    for (const kind of kinds)
      for (const { metadata } of await cluster.list(kind)) {
        // The API server's own Service and slice.
        if (metadata.name === "kubernetes") continue;
        await cluster.patch(kind, metadata.name, { metadata: { finalizers: null } });
        await cluster.delete(kind, metadata.name);
      }
  }
  return async (start: FunctionUnderTest, deployedAs: DeployableFunction): Promise<TestCluster> =>
    (opened = await testCluster(start, {
      deployedAs,
      servers: sharedServer(real),
      at: new Date().toISOString(),
    }));
}
