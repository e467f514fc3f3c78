import { describe, expect, it } from "vitest";
import type { Fact, Observation, ObservedVersion } from "./facts.ts";
import { contradictions, healingTime, openOracle, replacements, unneededRuns } from "./oracle.ts";

let at = 0;
const fact = (happening: Observation): Fact => ({ at: (at += 10), ...happening });
const one = (version: number): ObservedVersion => ({ uid: "one", version });
const other = (version: number): ObservedVersion => ({ uid: "other", version });
const changed = (version: number, now: ObservedVersion = one(version), key = "a/x"): Fact =>
  fact({ fact: "changed", key, version, matters: true, now });
const stated = (version: number): Fact =>
  fact({ fact: "changed", key: "a/x", version, matters: false, now: one(version) });
const ran = (read: number, observed: ObservedVersion, replaced?: string, uid?: string): Fact =>
  fact({ fact: "ran", key: "a/x", startedAt: at, read, observed, reasons: [], uid, replaced });

const unseenChanges = (...facts: readonly Fact[]): readonly string[] => {
  const oracle = openOracle();
  for (const each of facts) oracle.see(each);
  return oracle.unseenChanges().map(({ key, change }) => `${key} at ${change.version}`);
};

describe("what is owed a look (I1)", () => {
  it("is nothing once a run has read the last change", () => {
    expect(unseenChanges(changed(1), changed(2), ran(2, one(2)))).toEqual([]);
  });
  it("is a change that no run has looked at", () => {
    expect(unseenChanges(changed(1))).toEqual(["a/x at 1"]);
  });
  it("is a change that came after the last run had read", () => {
    expect(unseenChanges(changed(1), ran(1, one(1)), changed(5))).toEqual(["a/x at 5"]);
  });
  it("is a change that a run cannot have seen, though the run is noted later", () => {
    expect(unseenChanges(changed(1), changed(5), ran(4, one(1)))).toEqual(["a/x at 5"]);
  });
  it("is not a change of the status alone", () => {
    expect(unseenChanges(changed(1), ran(1, one(1)), stated(2))).toEqual([]);
  });
  it("is a change before one of the status alone", () => {
    expect(unseenChanges(changed(1), ran(1, one(1)), changed(2), stated(3))).toEqual(["a/x at 2"]);
  });
  it("is each key by itself", () => {
    expect(unseenChanges(changed(1), changed(2, other(2), "b/x"), ran(2, one(1)))).toEqual(["b/x at 2"]);
  });
  it("is not forgotten for a run that is noted late", () => {
    expect(unseenChanges(changed(1), changed(2), ran(2, one(2)), ran(1, one(1)))).toEqual([]);
  });
});

describe("an object that refers to another one", () => {
  const refers = (version: number): Fact =>
    fact({ fact: "changed", key: "a/x", version, matters: true, now: one(version), refers: "a/y" });
  const y = (version: number, now: ObservedVersion = other(version)) => changed(version, now, "a/y");

  it("is owed a look when that one changes, comes or goes", () => {
    expect(unseenChanges(y(1), refers(2), ran(2, one(2)))).toEqual(["a/y at 1"]);
    expect(unseenChanges(refers(2), ran(2, one(2)), y(3))).toEqual(["a/y at 3", "a/x at 3"]);
    expect(unseenChanges(y(1), refers(2), ran(2, one(2)), y(3, "gone"))).toEqual(["a/x at 3"]);
  });
  it("is owed nothing more when it refers to it no longer", () => {
    expect(unseenChanges(refers(1), ran(1, one(1)), changed(2), ran(2, one(2)), y(3))).toEqual(["a/y at 3"]);
  });
  it("is owed nothing for what came and went between", () => {
    expect(unseenChanges(refers(1), ran(1, one(1)), y(2), y(3, "gone"))).toEqual([]);
  });
});

describe("an object that is gone", () => {
  it("must be found gone by a run, when a run has seen it", () => {
    expect(unseenChanges(changed(1), ran(1, one(1)), changed(2, "gone"))).toEqual(["a/x at 2"]);
    expect(unseenChanges(changed(1), ran(1, one(1)), changed(2, "gone"), ran(2, "gone"))).toEqual([]);
  });
  it("is owed nothing when it came and went unseen", () => {
    expect(unseenChanges(changed(1), changed(2, "gone"))).toEqual([]);
  });
  it("is owed nothing when it came back and went again unseen", () => {
    const seenGone = [changed(1), ran(1, one(1)), changed(2, "gone"), ran(2, "gone")];
    expect(unseenChanges(...seenGone, changed(3, other(3)), changed(4, "gone"))).toEqual([]);
  });
  it("is a debt again when it came back, was seen and went", () => {
    const seen = [changed(1), ran(1, one(1)), changed(2, "gone"), changed(3, other(3)), ran(3, other(3))];
    expect(unseenChanges(...seen, changed(4, "gone"))).toEqual(["a/x at 4"]);
  });
  it("and came back as another one must be seen as the other one", () => {
    const recreated = [changed(1), ran(1, one(1)), changed(2, "gone"), changed(3, other(3))];
    expect(unseenChanges(...recreated)).toEqual(["a/x at 3"]);
    expect(unseenChanges(...recreated, ran(2, "gone"))).toEqual(["a/x at 3"]);
    expect(unseenChanges(...recreated, ran(3, other(3)))).toEqual([]);
  });
});

describe("a contradiction of the harness", () => {
  it("is none where run and recorder observed the same", () => {
    const same = [changed(1), ran(1, one(1)), stated(2), ran(3, one(2)), changed(4, "gone"), ran(9, "gone")];
    expect(contradictions(same)).toEqual([]);
  });
  it("is none where the run is noted before the change that it read", () => {
    expect(contradictions([ran(1, one(1)), changed(1)])).toEqual([]);
  });
  it.each([
    ["another version", ran(5, one(1))],
    ["another object", ran(5, other(5))],
    ["none where there is one", ran(5, "gone")],
  ])("is a run that read %s", (_, run) => {
    expect(contradictions([changed(1), changed(5), run])).toMatchObject([{ rule: "HARNESS", key: "a/x" }]);
  });
});

describe("runs that were not needed", () => {
  it("are those with no change since the run before", () => {
    const facts = [changed(1), ran(1, one(1)), ran(1, one(1)), changed(2), ran(2, one(2)), ran(4, one(2))];
    expect(unneededRuns(facts)).toEqual({ status: 0, nothing: 2 });
  });
  it("are counted apart where the status changed (I6)", () => {
    expect(unneededRuns([changed(1), ran(1, one(1)), stated(2), ran(2, one(2))])).toEqual({
      status: 1,
      nothing: 0,
    });
  });
  it("are not those that fold changes", () => {
    expect(unneededRuns([changed(1), stated(2), changed(3), ran(3, one(3))])).toEqual({
      status: 0,
      nothing: 0,
    });
  });
});

describe("replacements (I9)", () => {
  it("are reported to the run that first sees the other one, or to one after it", () => {
    expect(replacements([ran(1, one(1)), ran(3, other(3), "one")])).toEqual({ seen: 1, reported: 1 });
    const later = [ran(1, one(1)), ran(3, other(3)), ran(4, other(4), "one")];
    expect(replacements(later)).toEqual({ seen: 1, reported: 1 });
  });
  it("are reported to a run that gets the uid of the one, and reads the other", () => {
    expect(replacements([ran(1, one(1)), ran(3, other(3), undefined, "one")])).toEqual({
      seen: 1,
      reported: 1,
    });
  });
  it("are counted where none was reported", () => {
    expect(replacements([ran(1, one(1)), ran(3, other(3))])).toEqual({ seen: 1, reported: 0 });
  });
  it("are none where a run found the object gone in between", () => {
    expect(replacements([ran(1, one(1)), ran(2, "gone"), ran(3, other(3))])).toEqual({
      seen: 0,
      reported: 0,
    });
  });
});

describe("healing", () => {
  const over = (): Fact => fact({ fact: "faults over" });
  const rest = (): Fact => fact({ fact: "at rest" });
  it("lasts from the end of the faults to the run that pays the last debt", () => {
    const begun = at + 20;
    const facts = [changed(1), over(), ran(1, one(1)), rest(), changed(2), ran(2, one(2))];
    expect(healingTime(facts)).toBe(facts[2]!.at - begun);
  });
  it("takes no time where nothing was owed", () => {
    expect(healingTime([changed(1), ran(1, one(1)), over(), rest(), changed(2), ran(2, one(2))])).toBe(
      undefined,
    );
  });
});
