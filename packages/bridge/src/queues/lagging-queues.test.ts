import { expect, it } from "vitest";
import { pseudoRandom } from "@drover/random";
import {
  controlOf,
  testRegistration,
  openBridgeScene,
  type RunningBridge,
  type BridgeScene,
  until,
} from "../bridge-scene.fixture.ts";

interface Frame {
  readonly object: { readonly metadata: { readonly name: string; readonly resourceVersion: string } };
}

/** The version of each object's last change, deletions included, by a watch that does not use Drover's code. */
async function watchFrom({ url, token }: BridgeScene["sandbox"], signal: AbortSignal) {
  const last = new Map<string, number>();
  const { body } = await fetch(`${url}/api/v1/configmaps?watch=1&resourceVersion=0`, {
    signal,
    headers: { authorization: `Bearer ${token}` },
  });
  void (async () => {
    let text = "";
    for await (const piece of (body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
      const lines = (text + piece).split("\n");
      text = lines.pop() ?? "";
      for (const line of lines) {
        const { metadata } = (JSON.parse(line) as Frame).object;
        last.set(metadata.name, Number(metadata.resourceVersion));
      }
    }
  })().catch(() => undefined);
  return last;
}

const queues = ["a", "b", "c"];
const steady = "steady";
/** Every queue was woken for every object's last change, or a later one. */
const expectWokenForAll = async (
  scene: BridgeScene,
  last: ReadonlyMap<string, number>,
  of: readonly string[],
) => {
  for (const queue of of)
    for (const [name, version] of last) {
      const known = Number((await scene.entry(queue, name))["version:configmaps"] ?? 0);
      expect(known, `${name} in the queue ${queue}`).toBeGreaterThanOrEqual(version);
    }
};

it.each([1, 2, 3, 4])(
  "no wake is lost, and a steady queue is not delayed, when queues refuse wakes and bridges die (seed %i)",
  async (seed) => {
    await using scene = await openBridgeScene();
    const random = pseudoRandom(seed).fraction;
    const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
    const watching = new AbortController();
    const last = await watchFrom(scene.sandbox, watching.signal);
    const functions = [...queues, steady].map((name) => testRegistration(name));
    const start = async (): Promise<RunningBridge> => {
      const running = await scene.startBridge();
      running.bridge.register(functions);
      return running;
    };
    const running = [await start(), await start()];
    // An object that is made and deleted before the first list wakes no queue.
    await until(() => {
      const followed = running.flatMap(({ bridge }) => bridge.followed());
      expect(followed.map(({ reflector }) => reflector.status().synced)).toEqual([true]);
    });
    const poisons = await Promise.all(queues.map((queue) => scene.asFunction(queue)));
    const steps: readonly (() => Promise<unknown>)[] = [
      ...Array.from(
        { length: 5 },
        () => () => scene.put(`m${Math.floor(random() * 8)}`, { data: { n: `${random()}` } }),
      ),
      ...Array.from({ length: 2 }, () => () => scene.remove(`m${Math.floor(random() * 8)}`)),
      async () => {
        const index = Math.floor(random() * queues.length);
        await poisons[index]?.hset(controlOf(queues[index] ?? ""), "schema", 999);
      },
      () => scene.admin.hdel(controlOf(pick(queues)), "schema"),
    ];
    for (let round = 0; round < 3; round++) {
      for (let i = 0; i < 12; i++) await pick(steps)();
      if (round > 0) {
        running.shift()?.kill();
        running.push(await start());
      }
      await until(() => expectWokenForAll(scene, last, [steady]));
    }
    for (const queue of queues) await scene.admin.hdel(controlOf(queue), "schema");
    await scene.put("end");
    await until(() => expect(last.has("end")).toBe(true));
    await until(() => expectWokenForAll(scene, last, [...queues, steady]));
    await until(async () => expect(await scene.admin.keys("{drover-stream:*:owed:*")).toEqual([]));
    watching.abort();
  },
);
