import { describe, expect, it } from "vitest";
import { functionFor, object } from "../../harness/manifests.ts";
import { Greeting } from "../../../examples/typescript/greeting.ts";
import { deployedWorldOfFile, usersOf } from "../stage/deployed-world.ts";
import { pythonFunction } from "../stage/python-function.ts";
import type { TestObject } from "../stage/test-cluster.ts";
import { eventually } from "../stage/world.ts";

const examples = new URL("../../../examples/", import.meta.url).pathname;
const world = await deployedWorldOfFile([Greeting], {
  typescript: { command: [process.execPath, `${examples}typescript/main.ts`] },
  python: pythonFunction("greetings.py"),
});
await world.startGateway({ awaited: "Serving /healthz", machine: "node" });

const greeting = (name: string) => object(Greeting, name, { name });
const textOf = (object: TestObject | undefined): unknown => object?.status?.["text"];
const called = (image: string) =>
  functionFor(Greeting, "greetings", {
    delivery: "webhook",
    webhook: { finalizes: true },
    container: { image },
    scaling: { max: 2, idleAfter: "1s" },
  });

describe.each(["typescript", "python"])("a function that is called, in %s", (image) => {
  it("is started by the first key, is called with it, and goes again", async () => {
    await world.applyReady(called(image));
    await eventually(async () => expect(await world.pods("greetings")).toEqual([]));
    const greeted = await world.applyReady(greeting(image));
    expect(textOf(greeted)).toBe(`Hello, ${image}!`);
    await eventually(async () => expect(await world.pods("greetings")).toEqual([]));

    // Started once more for the end of its object, which waits for it.
    await world.removed(greeting(image));
    await eventually(async () => expect(await world.pods("greetings")).toEqual([]));
  }, 120_000);
});

it("a function that comes by its keys in another way keeps nothing of the old one", async () => {
  const { cluster } = world;
  const pulled = {
    ...called("typescript"),
    // This container takes no keys: it is not tried.
    spec: { ...called("typescript").spec, delivery: "pull", webhook: null, paused: true },
  };
  const is = (delivered: string) => (object: TestObject | undefined) =>
    object?.status?.["delivered"] === delivered;
  const role = "/apis/rbac.authorization.k8s.io/v1/clusterroles/drover-called:default:greetings";
  const secret = (of: string) => cluster.read(`/api/v1/namespaces/default/secrets/greetings-${of}`);
  await world.applyReady(called("typescript"));
  expect(await cluster.read(role)).toMatchObject({ rules: [{ resources: ["greetings"] }, {}, {}] });

  await cluster.apply(pulled);
  await world.until(pulled, is("pull"));
  expect(await usersOf(world, "greetings")).toHaveLength(1);
  expect([await cluster.read(role), await secret("webhook")]).toEqual([undefined, undefined]);

  await cluster.apply(called("typescript"));
  await world.until(pulled, is("webhook"));
  expect(await usersOf(world, "greetings")).toEqual([]);
  expect(await secret("redis")).toBeUndefined();
  expect(await cluster.read(role)).toBeDefined();
});
