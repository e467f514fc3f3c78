import { objectKey, type ObjectKey } from "@drover/controller";
import { setImmediate as turn } from "node:timers/promises";
import { expect, it } from "vitest";
import type { Bell } from "./bells.ts";
import { memoryBells } from "./memory-bells.ts";

const bell = (name: string, number = "1"): Bell => ({ key: objectKey({ name }), number });
const turns = async (count: number): Promise<void> => {
  for (let i = 0; i < count; i++) await turn();
};

it("brings bells in the order in which they were added, no more at once than a listener takes", async () => {
  const bells = memoryBells();
  const begun: ObjectKey[] = [];
  const ends: (() => void)[] = [];
  bells.listen((key) => {
    begun.push(key);
    return new Promise((resolve) => void ends.push(resolve));
  }, 2);
  await bells.add(["c", "a", "b"].map((name) => bell(name)));
  await turns(3);
  expect(begun).toEqual(["c", "a"]);
  expect(await bells.waiting([bell("a"), bell("b"), bell("b", "2")])).toEqual([bell("b")]);
  ends[1]?.();
  await turns(3);
  expect(begun).toEqual(["c", "a", "b"]);
});

it("brings each bell to one listener, and to all of them in turn", async () => {
  const bells = memoryBells();
  const took: string[] = [];
  for (const name of ["first", "second"]) {
    bells.listen(() => {
      took.push(name);
      return Promise.resolve();
    }, 2);
  }
  await bells.add(["a", "b", "c", "d"].map((name) => bell(name)));
  await turns(3);
  expect(took).toEqual(["first", "second", "first", "second"]);
});

it("brings a bell that was added twice once, and waits for listeners as long as there are none", async () => {
  const bells = memoryBells();
  await bells.add([bell("a"), bell("a")]);
  await bells.add([bell("a")]);
  const begun: ObjectKey[] = [];
  bells.listen((key) => Promise.resolve(void begun.push(key)), 5);
  await turns(3);
  expect(begun).toEqual(["a"]);
});

it("goes on after an answer that throws", async () => {
  const bells = memoryBells();
  const begun: ObjectKey[] = [];
  bells.listen((key) => {
    begun.push(key);
    return Promise.reject(new Error("no"));
  }, 1);
  await bells.add([bell("a"), bell("b")]);
  await turns(5);
  expect(begun).toEqual(["a", "b"]);
});

it("stops when what was taken has been answered, and keeps the rest for others", async () => {
  const bells = memoryBells();
  const end = Promise.withResolvers<undefined>();
  const listener = bells.listen(() => end.promise, 1);
  await bells.add([bell("a"), bell("b")]);
  let stopped = false;
  const stopping = listener.stop().then(() => (stopped = true));
  await turns(3);
  expect(stopped).toBe(false);
  end.resolve(undefined);
  await stopping;
  expect(await bells.waiting([bell("a"), bell("b")])).toEqual([bell("b")]);
});

it("lets timers be heard, though answers never wait and always ring again", async () => {
  const bells = memoryBells();
  const heard = Promise.withResolvers<undefined>();
  let over = false;
  bells.listen(async (key) => {
    if (!over) await bells.add([{ key, number: "again" }]);
  }, 1);
  await bells.add([bell("a")]);
  setTimeout(() => heard.resolve(undefined), 1);
  await heard.promise;
  over = true;
});
