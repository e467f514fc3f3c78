import { testCluster, type TestCluster } from "@drover/testing";
import { afterEach, expect, it } from "vitest";
import { replicaSetController } from "./replica-set-controller.ts";
import { pods, sets, web } from "./testing/web.ts";

let cluster: TestCluster | undefined;
afterEach(async () => {
  await cluster?.close();
  cluster = undefined;
});
const open = async (): Promise<TestCluster> =>
  (cluster = await testCluster(({ client, now }) => replicaSetController({ client: () => client, now })));

it("makes as many pods as are asked for, and says so", async () => {
  const opened = await open();
  await opened.apply(web(3));
  await opened.settled();
  expect((await opened.list(pods)).map(({ metadata }) => metadata.name)).toHaveLength(3);
  expect((await opened.get(sets, "web"))?.["status"]).toEqual({
    ...{ replicas: 3, fullyLabeledReplicas: 3, terminatingReplicas: 0, observedGeneration: 1 },
  });
});
