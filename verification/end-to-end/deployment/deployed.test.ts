import { customResourceDefinition, reconcileFunctionOf } from "@drover/controller";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type DeployedWorld, startDeployedWorld } from "../stage/deployed-world.ts";
import { Gadget, gadgetController } from "../functions/gadgets.ts";
import { conditionOf, eventually, isReady } from "../stage/world.ts";

const main = new URL("../functions/gadgets.ts", import.meta.url).pathname;
let world: DeployedWorld;
beforeAll(async () => {
  world = await startDeployedWorld({
    "gadgets:1": { command: [process.execPath, main] },
    "gadgets:2": { command: [process.execPath, main] },
    broken: { command: [process.execPath, "-e", "process.exit(3)"] },
  });
  await world.cluster.apply({ ...customResourceDefinition(Gadget) });
});
afterAll(() => world.stop());

const named = (image: string, more: object = {}) => {
  const { metadata, ...rest } = reconcileFunctionOf(gadgetController, {
    container: { image },
    scaling: { max: 3, idleAfter: "1s" },
    permissions: {
      namespace: [{ apiGroups: [""], resources: ["configmaps"], verbs: ["get"] }],
      cluster: [{ apiGroups: ["example.com"], resources: ["gadgets"], verbs: ["get", "patch"] }],
    },
    ...more,
  });
  return { ...rest, metadata: { ...metadata, namespace: "default" } };
};
const gadget = (name: string) => ({
  apiVersion: "example.com/v1",
  kind: "Gadget",
  spec: {},
  metadata: { name, namespace: "default" },
});

it("a function is tried, goes to nothing, comes with the first object, and goes when there is nothing to do", async () => {
  const { cluster } = world;
  await cluster.apply(named("gadgets:1"));
  await eventually(async () => expect(await world.pods("gadgets")).toHaveLength(1));
  await world.until(named("any"), (object) => conditionOf(object)?.reason === "ScaledToZero");
  await eventually(async () => expect(await world.pods("gadgets")).toEqual([]));
  await cluster.apply(gadget("a"));
  await world.until(gadget("a"), isReady);
  expect(await world.pods("gadgets")).toHaveLength(1);
  await eventually(async () => expect(await world.pods("gadgets")).toEqual([]));
}, 120_000);
