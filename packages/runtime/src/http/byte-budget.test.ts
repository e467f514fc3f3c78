import { beforeEach, describe, expect, it } from "vitest";
import { pseudoRandom } from "@drover/random";
import { type ByteBudget, byteBudget, type HeldBytes } from "./byte-budget.ts";

const limits = { total: 1_000, peer: 400, group: 300 };
let budget: ByteBudget;
let dropped: string[];
beforeEach(() => void ([budget, dropped] = [byteBudget(limits), []]));
const hold = (name: string, peer: string, bytes: number, group?: string): HeldBytes =>
  budget.hold({ peer, bytes, ...(group !== undefined && { group }), onDropped: () => dropped.push(name) });

describe("if a peer exceeds its limit", () => {
  it("its oldest bytes are dropped, and never the newest", () => {
    for (let i = 0; i < 10; i++) hold(`flood ${i}`, "a", 100);
    expect(dropped).toEqual(["flood 0", "flood 1", "flood 2", "flood 3", "flood 4", "flood 5"]);
    expect(budget.held()).toBe(400);
  });
  it("no bytes of other peers are dropped, even if they are older", () => {
    hold("old", "b", 100);
    for (let i = 0; i < 100; i++) hold("flood", "a", 100);
    expect(dropped).not.toContain("old");
  });
  it("the oldest are also dropped when others grow", () => {
    const first = hold("first", "a", 100);
    const second = hold("second", "a", 100);
    second.grow(200);
    expect(dropped).toEqual([]);
    second.grow(1);
    expect(dropped).toEqual(["first"]);
    first.grow(1_000);
    expect(budget.held()).toBe(301);
  });
});

describe("if a group exceeds its limit", () => {
  it("the oldest bytes of its largest peer are dropped, and no other group's", () => {
    hold("quiet", "b", 100, "hook");
    hold("beside", "a", 100, "other");
    hold("flood 0", "a", 150, "hook");
    hold("flood 1", "a", 100, "hook");
    expect(dropped).toEqual(["flood 0"]);
  });
});

it("large bytes are not dropped for a flood of small ones from many peers", () => {
  for (let i = 0; i < 30; i++) hold(`small ${i}`, `p${i}`, 10, "hook");
  hold("large", "mine", 200, "hook");
  expect(dropped).toEqual(Array.from({ length: 20 }, (_, i) => `small ${i}`));
});

describe("if the total exceeds its limit", () => {
  it("the oldest bytes of the largest peer are dropped", () => {
    for (const peer of ["a", "b", "c"]) for (let i = 0; i < 3; i++) hold(`${peer} ${i}`, peer, 100);
    hold("d", "d", 200);
    expect(dropped).toEqual(["a 0"]);
  });
});

it("bytes that grow from zero are counted in their group", () => {
  const one = hold("one", "a", 0, "hook");
  hold("gone", "b", 0, "hook").release();
  one.grow(200);
  hold("two", "b", 101, "hook");
  expect(dropped).toEqual(["one"]);
});

it("released bytes are neither counted nor dropped", () => {
  const one = hold("one", "a", 400);
  one.release();
  one.release();
  hold("two", "a", 400);
  expect([budget.held(), dropped]).toEqual([400, []]);
});

it("no limit is exceeded and the count is right after any order of holding, growing and releasing", () => {
  const random = pseudoRandom(5);
  const held = new Map<HeldBytes, { peer: string; group: string | undefined; bytes: number }>();
  for (let i = 0; i < 20_000; i++) {
    const act = random.fraction();
    const one = held.size > 0 ? random.oneOf([...held.keys()]) : undefined;
    if (act < 0.5 || one === undefined) {
      const [peer, group] = [`p${random.below(6)}`, random.oneOf([undefined, "g1", "g2", "g3"])];
      const own: { holding?: HeldBytes } = {};
      const onDropped = (): void => {
        if (own.holding !== undefined) held.delete(own.holding);
      };
      // The newest is never dropped at once: it is below each limit.
      const bytes = random.below(300);
      own.holding = budget.hold({ peer, bytes, ...(group && { group }), onDropped });
      held.set(own.holding, { peer, group, bytes });
    } else if (act < 0.8) {
      const more = random.below(50);
      held.get(one)!.bytes += more;
      one.grow(more);
    } else {
      one.release();
      held.delete(one);
    }
    const sum = (of: (one: { peer: string; group: string | undefined }) => boolean): number =>
      [...held.values()].reduce((all, each) => all + (of(each) ? each.bytes : 0), 0);
    expect(budget.held()).toBe(sum(() => true));
    expect(budget.held()).toBeLessThanOrEqual(limits.total);
    expect(sum(({ peer }) => peer === "p1")).toBeLessThanOrEqual(limits.peer);
    expect(sum(({ group }) => group === "g1")).toBeLessThanOrEqual(limits.group);
  }
});
