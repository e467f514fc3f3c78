import { describe, expect, test } from "vitest";
import { openBalancerScene, type BalancerScene } from "../testing/balancer-scene.ts";
import { node, service } from "../testing/manifests.ts";

const count = ({ front }: BalancerScene, action: string): number =>
  front.actions.filter((each) => each === action).length;
const groupsOf = async ({ aws }: BalancerScene) =>
  Object.entries((await aws.state())["groups"] as Record<string, { targets: string[] }>);

describe("more than one request takes", () => {
  test("may be the target groups", async () => {
    await using scene = await openBalancerScene();
    const ports = Array.from({ length: 21 }, (_, number) => ({
      name: `p${number}`,
      protocol: "TCP",
      port: 8_000 + number,
      nodePort: 31_000 + number,
    }));
    await scene.apply(service(ports));
    await scene.balance();
    expect((await scene.condition("Ready"))?.status).toBe("True");
    expect(await groupsOf(scene)).toHaveLength(ports.length);
  });

  test("may be the targets", async () => {
    await using scene = await openBalancerScene();
    const more = Array.from({ length: 100 }, (_, number) => `c${number}`);
    for (const name of more) await scene.cluster.apply(node(name));
    await scene.balance();
    const [[, group] = []] = await groupsOf(scene);
    expect(group?.targets).toEqual(["a", "b", ...more].map((name) => `i-0${name}:30080`).sort());
    expect(count(scene, "RegisterTargets")).toBe(2);
    for (const name of more) await scene.cluster.delete({ apiVersion: "v1", kind: "Node" }, name);
    await scene.cluster.delete({ apiVersion: "v1", kind: "Node" }, "b");
    await scene.cluster.runUntilIdle();
    expect((await groupsOf(scene))[0]?.[1].targets).toEqual(["i-0a:30080"]);
  });

  test("may be the listeners", async () => {
    await using scene = await openBalancerScene();
    await scene.balance();
    scene.front.forget();
    scene.front.faults.set("DescribeListeners", (answer) =>
      scene.front.last("DescribeListeners").has("Marker")
        ? answer
        : answer.replace(/<Listeners>.*<\/Listeners>/s, "<Listeners/><NextMarker>2</NextMarker>"),
    );
    await scene.cluster.advance("301s");
    expect(count(scene, "DescribeListeners")).toBe(2);
    expect(scene.front.writes()).toEqual([]);
    expect((await scene.condition("Ready"))?.status).toBe("True");
  });
});
