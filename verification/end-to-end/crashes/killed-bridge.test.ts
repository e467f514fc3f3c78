import { expect, it } from "vitest";
import { crash } from "../../harness/start-process.ts";
import { openGate } from "../stage/s3-gate.ts";
import { bucket, eventually, isGone, isReady, worldOfFile } from "../stage/world.ts";

const world = await worldOfFile();
const made = new Map<string, number>();
const gate = await openGate(world.s3.url, {
  before: () => Promise.resolve(undefined),
  after(call, status) {
    if (call.operation === "PUT" && status < 300) made.set(call.bucket, (made.get(call.bucket) ?? 0) + 1);
    return Promise.resolve(undefined);
  },
});
world.atEnd(() => gate.close());
await world.startWorker({ s3Url: gate.url });

const names = (word: string, count: number): string[] =>
  Array.from({ length: count }, (_, i) => `${word}-${i}`);
const team = (of: string, name: string) => bucket(name, { tags: { team: of }, pollInterval: "1h" });

it("a bridge killed again and again while objects come, change and go: the world ends as without", async () => {
  const { cluster, truth } = world;
  const [kept, changed, deleted, unseen] = [
    names("kept", 6),
    names("changed", 6),
    names("deleted", 6),
    names("unseen", 3),
  ];

  // Killed in the middle of a burst of creations.
  let bridge = await world.startBridge();
  const burst = [...kept, ...changed, ...deleted];
  const created = burst.map((name) => cluster.apply(team("a", name)));
  await created[3];
  bridge.kill("SIGKILL");
  await Promise.all([...created, bridge.exited]);

  // Changes and deletions while it is down, objects that come and go unseen, and a delete and recreate.
  bridge = await world.startBridge();
  await Promise.all(burst.map((name) => world.until(team("a", name), isReady)));
  const firstUid = (await cluster.get(team("a", "kept-0")))?.metadata.uid;
  await crash(bridge);
  await Promise.all([
    ...changed.map((name) => cluster.apply(team("b", name))),
    ...deleted.map((name) => cluster.remove(team("a", name))),
    ...unseen.map((name) => cluster.apply(team("a", name)).then(() => cluster.remove(team("a", name)))),
  ]);

  bridge = await world.startBridge();
  await Promise.all([
    ...changed.map((name) => world.until(team("b", name), isReady)),
    ...deleted.map((name) => world.until(team("a", name), isGone)),
  ]);

  // Killed right after a deletion was asked for, and again while it is recreated.
  await cluster.remove(team("a", "kept-0"));
  await crash(bridge);
  bridge = await world.startBridge();
  await world.until(team("a", "kept-0"), isGone);
  await cluster.apply(team("c", "kept-0"));
  await crash(bridge);
  await world.startBridge();
  const reborn = await world.until(team("c", "kept-0"), isReady);
  expect(reborn?.metadata.uid).not.toBe(firstUid);

  await eventually(async () =>
    expect([...(await truth.names())].sort()).toEqual([...kept, ...changed].sort()),
  );
  for (const name of [...kept, ...changed]) {
    const object = await cluster.get(team("a", name));
    const expected = name === "kept-0" ? "c" : name.startsWith("kept") ? "a" : "b";
    expect((await truth.bucket(name))?.tags).toMatchObject({
      team: expected,
      "drover.dev/owner-uid": object?.metadata.uid,
    });
    expect(made.get(name), `creations of ${name}`).toBe(name === "kept-0" ? 2 : 1);
  }
  for (const name of deleted) expect(made.get(name), `creations of ${name}`).toBe(1);
  for (const name of unseen) expect(made.get(name), `creations of ${name}`).toBeUndefined();
}, 240_000);
