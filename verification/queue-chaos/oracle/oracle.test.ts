import { describe, expect, it } from "vitest";
import type { Fact, Observation, OutcomeKind } from "./facts.ts";
import { violationsIn } from "./oracle.ts";
import { followRest } from "./rest.ts";
import type { FaultKind } from "../schedules/schedule.ts";

const expected = {
  times: { lease: 600, firstBackoff: 20, longestBackoff: 200 },
  keys: 2,
  slots: 2,
};
const key = "chaos/k0";

/** A log that is written by hand: each call adds a fact, at a time in milliseconds. */
function story() {
  const facts: Fact[] = [];
  const add = (at: number, happening: Observation) => facts.push({ at, ...happening });
  const of = (token: string, process: string) => ({ key, token, process });
  let batches = 0;
  const self = {
    facts,
    violations: () => violationsIn(facts, expected).map(({ rule }) => rule),
    starts(at: number, token: string, process = "worker-0") {
      add(at, { fact: "started", ...of(token, process), version: 1, fails: 0, sent: at });
      return self;
    },
    writes(at: number, token: string, held = true, process = "worker-0") {
      add(at, { fact: "effect", ...of(token, process), held, sent: at });
      return self;
    },
    ends(at: number, token: string, outcome: OutcomeKind = "done", again = false) {
      add(at, { fact: "ended", ...of(token, "worker-0"), outcome, again, sent: at });
      return self;
    },
    settles(at: number, token: string, outcome: OutcomeKind = "done") {
      add(at, { fact: "settled", ...of(token, "worker-0"), outcome });
      return self;
    },
    run(at: number, token: string, outcome: OutcomeKind = "done", again = false) {
      return self
        .starts(at, token)
        .writes(at, token)
        .ends(at + 1, token, outcome, again)
        .settles(at + 2, token, outcome);
    },
    woken(from: number, to: number) {
      const batch = batches++;
      add(from, { fact: "requested", batch, process: "producer-0", wakes: { [key]: 1 } });
      add(to, { fact: "acknowledged", batch, process: "producer-0" });
      return self;
    },
    fault(from: number, to: number, kind: FaultKind, loses: "nothing" | "data" | "integrity") {
      for (const [at, phase] of [
        [from, "begins"],
        [to, "over"],
      ] as const) {
        add(at, { fact: "fault", kind, phase, loses, detail: "" });
      }
      return self;
    },
    exits(at: number, wanted: boolean) {
      add(at, { fact: "exited", process: "worker-0", wanted, how: "exit code 1" });
      return self;
    },
    jobs(at: number, waiting: number, active = 0) {
      add(at, { fact: "jobs", waiting, active, failed: 0 });
      return self;
    },
  };
  return self;
}

describe("two runs of a key", () => {
  it("may not both write while both are under way", () => {
    const overlap = story().starts(0, "a").starts(10, "b", "worker-1").writes(20, "b").writes(30, "a");
    expect(overlap.violations()).toEqual(["I3"]);
  });
  it("may overlap when the one that lost its lease writes no more", () => {
    const refused = story()
      .starts(0, "a")
      .writes(1, "a")
      .starts(700, "b")
      .writes(710, "b")
      .writes(720, "a", false);
    expect(refused.violations()).toEqual([]);
  });
  it("may not overlap after Redis has lost data, either", () => {
    const lost = story()
      .starts(0, "a")
      .fault(5, 6, "redis-flush", "data")
      .starts(10, "b")
      .writes(20, "b")
      .writes(30, "a");
    expect(lost.violations()).toEqual(["I3"]);
  });
  it("may overlap where the lease was removed from the ledger, for as long as a lease", () => {
    const broken = (at: number) =>
      story()
        .starts(at - 5, "a")
        .fault(0, 1, "ledger-mutate", "integrity")
        .starts(at, "b")
        .writes(at + 1, "b")
        .writes(at + 2, "a");
    expect(broken(10).violations()).toEqual([]);
    expect(broken(700).violations()).toEqual(["I3"]);
  });
  it("may not have one token", () => {
    expect(story().run(0, "a", "retry").run(100, "a", "retry").violations()).toContain("I13");
  });
});

describe("a run", () => {
  it("may not be settled when another one held its key before it ended", () => {
    const stolen = story().starts(0, "a").starts(700, "b").writes(710, "b").ends(800, "a").settles(801, "a");
    expect(stolen.violations()).toEqual(["I4"]);
  });
  it("may be settled by a server that was started meanwhile, though another one held its key", () => {
    const restarted = story().starts(0, "a").starts(700, "b").writes(710, "b");
    restarted.fault(720, 740, "redis-kill", "nothing").ends(800, "a").settles(801, "a");
    expect(restarted.violations()).toEqual([]);
  });
  it("may be settled while a run is called that lost its lease before it began", () => {
    const late = story()
      .starts(0, "a")
      .starts(700, "b")
      .writes(710, "b", false)
      .ends(800, "a")
      .settles(801, "a");
    expect(late.violations()).toEqual([]);
  });
  it("needs a reason after one that came to rest", () => {
    expect(story().woken(0, 1).run(1_002, "a").run(2_500, "b").violations()).toEqual(["I6"]);
    expect(story().woken(0, 1).run(1_002, "a", "terminal").run(2_500, "b").violations()).toEqual(["I6"]);
  });
  it("needs none when it was called after its lease was lost, and wrote nothing", () => {
    const late = story().woken(0, 1).run(1_002, "a").starts(2_500, "b").writes(2_501, "b", false);
    expect(late.violations()).toEqual([]);
  });
  it("has one in a wake, in a outcome, and in an end that may not have reached the queue", () => {
    expect(story().run(0, "a").woken(10, 20).run(1_500, "b").violations()).toEqual([]);
    expect(story().run(0, "a", "done", true).run(1_500, "b").violations()).toEqual([]);
    expect(story().run(0, "a", "retry").run(1_500, "b").violations()).toEqual([]);
    expect(story().starts(0, "a").ends(1, "a").run(1_500, "b").violations()).toEqual([]);
  });
});

describe("a key that fails", () => {
  const failing = (...times: readonly number[]) => {
    const recorded = story();
    for (const [i, time] of times.entries()) recorded.run(time, `t${i}`, "retry");
    return recorded;
  };
  it("is tried twice per window at most", () => {
    expect(failing(0, 2, 4, 6).violations()).toEqual(["I7"]);
    expect(failing(0, 3, 20, 23).violations()).toEqual([]);
  });
  it("waits longer with each failure", () => {
    const often = Array.from({ length: 20 }, (_, i) => i * 10);
    expect(failing(...often).violations()).toEqual(["I7"]);
  });
  it("may be tried at once when its run was interrupted, or when Redis has forgotten its failures", () => {
    expect(failing(0, 3).run(6, "i", "interrupted").run(9, "e", "retry").violations()).toEqual([]);
    const forgotten = failing(0, 3)
      .fault(4, 5, "redis-flush", "data")
      .run(6, "e", "retry")
      .run(9, "f", "retry");
    expect(forgotten.violations()).toEqual([]);
  });
});

it("a process may not end by itself", () => {
  expect(story().exits(0, false).violations()).toEqual(["I17"]);
  expect(story().exits(0, true).violations()).toEqual([]);
});

it("there are not more jobs than keys, but for late ones and those of the dead", () => {
  expect(story().jobs(0, 5).violations()).toEqual(["I14"]);
  expect(story().jobs(0, 4).violations()).toEqual([]);
  expect(story().jobs(0, 0, 4).violations()).toEqual(["I14"]);
  expect(story().exits(0, true).jobs(1, 0, 4).violations()).toEqual([]);
});

it("as many forged jobs may stay active as runs have failed since they were forged", () => {
  const forged = () => story().fault(0, 1, "jobs-forge", "nothing");
  expect(forged().jobs(9, 99, 4).violations()).toEqual([]);
  expect(forged().run(2, "a").jobs(9, 0, 5).violations()).toEqual(["I14"]);
  expect(forged().run(2, "a", "terminal").jobs(9, 0, 5).violations()).toEqual([]);
  expect(forged().run(2, "a", "terminal").jobs(9, 0, 6).violations()).toEqual(["I14"]);
  expect(story().run(2, "a", "terminal").jobs(9, 0, 3).violations()).toEqual(["I14"]);
});

describe("a key is at rest", () => {
  const restOf = (recorded: ReturnType<typeof story>, behaviour: "works" | "later" = "works") => {
    const rest = followRest(new Map([[key, behaviour]]));
    for (const fact of recorded.facts) rest.see(fact);
    return (version: number) => rest.missing(key, version);
  };
  it("when its last change was read by a run that came to an end", () => {
    expect(restOf(story().run(0, "a"))(1)).toBeUndefined();
    expect(restOf(story().run(0, "a", "terminal"))(1)).toBeUndefined();
    expect(restOf(story().run(0, "a", "done", true), "later")(1)).toBeUndefined();
  });
  it("not if no run read it, or the run that did has more to do", () => {
    expect(restOf(story())(1)).toMatch(/no run has begun/);
    expect(restOf(story().run(0, "a"))(2)).toMatch(/the last run read 1/);
    expect(restOf(story().starts(0, "a").writes(1, "a"))(1)).toMatch(/has not ended/);
    expect(restOf(story().run(0, "a", "retry"))(1)).toMatch(/came to retry/);
    expect(restOf(story().run(0, "a", "done", true))(1)).toMatch(/asked to be looked at again/);
    expect(restOf(story().run(0, "a").starts(5, "b"))(1)).toBeUndefined(); // it has done nothing yet, and may be stale
    expect(restOf(story().run(0, "a").starts(5, "b").writes(6, "b"))(1)).toMatch(/has not ended/);
  });
});
