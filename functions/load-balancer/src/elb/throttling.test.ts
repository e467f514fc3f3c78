import { expect, test } from "vitest";
import { openBalancerScene } from "../testing/balancer-scene.ts";
import { loadBalancer, service } from "../testing/manifests.ts";

test.each(["Throttling", "ThrottlingException"])("an account that gets %s waits", async (code) => {
  await using scene = await openBalancerScene();
  await scene.balance();
  scene.front.faults.set("DescribeLoadBalancers", { status: 400, code });
  await scene.cluster.advance("5m");
  expect(await scene.condition("Ready")).toMatchObject({ status: "False", reason: "SlowDown" });
});

test.each(["DescribeTargetGroups", "DescribeTargetHealth", "DescribeListeners"])(
  "an account that gets Throttling for %s waits, too",
  async (action) => {
    await using scene = await openBalancerScene();
    await scene.balance();
    scene.front.faults.set(action, { status: 400, code: "Throttling" });
    await scene.cluster.advance("301s");
    expect(await scene.condition("Ready")).toMatchObject({ status: "False", reason: "SlowDown" });
  },
);

test("an account that gets Throttling for the tags of target groups waits, too", async () => {
  await using scene = await openBalancerScene();
  await scene.balance();
  scene.front.faults.set("DescribeTargetGroups", (answer) => {
    scene.front.faults.set("DescribeTags", { status: 400, code: "Throttling" });
    return answer;
  });
  await scene.cluster.advance("5m");
  expect(await scene.condition("Ready")).toMatchObject({ status: "False", reason: "SlowDown" });
});

test("an account that gets Throttling while a load balancer is deleted waits, too", async () => {
  await using scene = await openBalancerScene();
  const metadata = { name: "other" };
  await scene.balance();
  await scene.apply({ ...service(), metadata }, { ...loadBalancer({ subnets: scene.subnets }), metadata });
  scene.front.faults.set("DescribeLoadBalancers", { status: 400, code: "Throttling" });
  await scene.cluster.delete({ apiVersion: "elb.drover.dev/v1alpha1", kind: "LoadBalancer" }, "web");
  await scene.cluster.advance("1s");
  expect(await scene.condition("Ready")).toMatchObject({ status: "False", reason: "SlowDown" });
  scene.front.forget();
  await scene.cluster.apply({ ...loadBalancer({ subnets: scene.subnets, crossZone: true }), metadata });
  await scene.cluster.advance("1s");
  expect(scene.front.actions).toEqual([]);
});
