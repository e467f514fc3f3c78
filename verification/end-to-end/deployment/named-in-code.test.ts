import { ReconcileFunction, reconcileFunctionOf } from "@drover/controller";
import { expect, it } from "vitest";
import { inDefault, object } from "../../harness/manifests.ts";
import { Gadget, gadgetController, mapFor } from "../functions/gadgets.ts";
import { eventually, isReady, ofCluster, queueOf, worldOfFile } from "../stage/world.ts";

const main = "verification/end-to-end/functions/gadgets.ts";
const world = await worldOfFile(ReconcileFunction, Gadget);
const redis = await world.connectRedis();
const registration = inDefault(reconcileFunctionOf(gadgetController));
await world.cluster.apply(registration);
const queue = await queueOf(world, registration);
const start = () => world.startFunction(main, { DROVER_FUNCTION: "default/gadgets" });
let worker = await start();
await world.startBridge({ functions: ofCluster, awaited: "Serving" });

const gadget = (name: string) => object(Gadget, name, {});
const all = ["a", "b", "c"];
/** How often each was woken, as the ledger counts it. */
const wakes = (): Promise<readonly number[]> =>
  Promise.all(
    all.map(async (name) => Number(await redis.hget(`{drover:${queue}}:key:default/${name}`, "wakes"))),
  );
const woken = async (before: readonly number[]) => {
  const now = await wakes();
  return all.filter((_name, index) => (now[index] ?? 0) > (before[index] ?? 0)).join("");
};

it("a mapping in code wakes the objects that it names now and those that it named before", async () => {
  const { cluster } = world;
  for (const name of all) await cluster.apply(gadget(name));
  for (const name of all) await world.until(gadget(name), isReady);
  let before = await wakes();
  await cluster.apply(mapFor("a b"));
  await eventually(async () => expect(await woken(before)).toBe("ab"));

  before = await wakes();
  await cluster.apply(mapFor("b c"));
  await eventually(async () => expect(await woken(before)).toBe("abc"));

  // The mapping runs as a job: it waits until a worker runs, and is retried when the code fails.
  before = await wakes();
  await worker.stop();
  await cluster.apply(mapFor("no/name b"));
  await cluster.remove(mapFor(""));
  worker = await start();
  await eventually(async () => expect(await woken(before)).toBe("bc"));
  // Named keys are stored only after they were woken.
  await eventually(async () =>
    expect(await redis.exists(`{drover:${queue}/names/configmaps}:named`)).toBe(0),
  );
}, 120_000);
