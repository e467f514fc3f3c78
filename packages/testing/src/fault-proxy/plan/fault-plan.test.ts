import { describe, expect, it } from "vitest";
import { type ProxiedCall, parseCall } from "../calls/proxied-call.ts";
import { faultPlanDecider } from "./fault-plan-decider.ts";
import type { WatchedEvent } from "./faults.ts";
import { InvalidPlanError, parsePlan } from "./fault-plan.ts";

const problems = (plan: unknown): readonly string[] => {
  try {
    parsePlan(plan);
    return [];
  } catch (error) {
    if (!(error instanceof InvalidPlanError)) throw error;
    return error.problems;
  }
};
const collection = "/api/v1/namespaces/default/configmaps";
const call = (method: string, url: string, body?: unknown, life = 1): ProxiedCall =>
  parseCall({ id: 1, life, method, url, body });
const create = (name: string): ProxiedCall => call("POST", collection, { metadata: { name } });
const rules = (...all: object[]) => faultPlanDecider(parsePlan({ rules: all }));
/** The numbers of the calls that meet a fault. */
const met = (decider: ReturnType<typeof rules>, calls: readonly ProxiedCall[]): number[] =>
  calls.flatMap((each, i) => (decider.ofCall(each) === undefined ? [] : [i + 1]));
const creations = Array.from({ length: 7 }, (_, i) => create(`a${i + 1}`));

describe("an invalid plan is rejected with the place and a suggestion", () => {
  it.each<[unknown, string]>([
    [
      { rules: [{ do: "lose anwser" }] },
      `rules[0].do: there is no fault "lose anwser" here. Did you mean lose answer?`,
    ],
    [
      { rules: [{ when: { verb: "creat" }, do: "reset" }] },
      `rules[0].when.verb: there is no "creat" here. Did you mean create?`,
    ],
    [
      { rules: [{ when: { nht: 1 }, do: "reset" }] },
      `rules[0].when: there is no "nht" here. Did you mean nth?`,
    ],
    [{ rules: [{ do: "refuse" }] }, "rules[0].status: Invalid input: expected number, received undefined"],
    [{ rules: [{ do: "reset", time: 1 }] }, `rules[0]: there is no "time" here. Known are: do.`],
    [
      { rules: [{ when: { event: "any" }, do: "lose answer" }] },
      `rules[0].do: there is no fault "lose answer" here.`,
    ],
    [{ rules: [{ do: "kill" }] }, "rules[0].do: write `kill before` or `kill after`."],
    [{ rules: [{ times: 1 }] }, "rules[0].do: name the fault in `do`."],
    [{ rule: [] }, `the plan: there is no "rule" here. Did you mean rules?`],
    [{ seed: 1, faults: ["confilct"] }, `faults[0]: there is no "confilct" here. Did you mean conflict?`],
    [{ seed: 1, rate: 2 }, "rate: Too big"],
    ["kill", "the plan: "],
  ])("%j", (plan, problem) => {
    expect(problems(plan).join("\n")).toContain(problem);
  });
});

describe("a rule", () => {
  it("applies to the calls that match its conditions, and to all without any", () => {
    const calls = [
      create("a"),
      call("GET", collection),
      call("PUT", `${collection}/b/status`),
      call("PUT", "/bucket/key"),
    ];
    const which = (when: object) => met(rules({ when, do: "reset" }), calls);
    expect(which({})).toEqual([1, 2, 3, 4]);
    expect(which({ verb: ["list", "update"] })).toEqual([2, 3]);
    expect(which({ resource: "configmaps", write: true })).toEqual([1, 3]);
    expect(which({ resource: "configmaps", subresource: "" })).toEqual([1, 2]);
    expect(which({ name: "a" })).toEqual([1]);
    expect(which({ namespace: "default", name: "b" })).toEqual([3]);
    expect(which({ method: "PUT", path: "/bucket" })).toEqual([4]);
    expect(which({ life: 2 })).toEqual([]);
  });
  it.each<[object, number[]]>([
    [{ nth: 3 }, [3]],
    [{ from: 3, to: 5 }, [3, 4, 5]],
    [{ everyNth: 3 }, [3, 6]],
    [{ from: 2, everyNth: 2 }, [3, 5, 7]],
  ])("applies to the calls that its numbers select: %j", (when, turns) => {
    expect(met(rules({ when, do: "reset" }), creations)).toEqual(turns);
  });
  it("applies at most `times` times, then the next rule does; both count all calls", () => {
    const decider = rules({ do: "reset", times: 2 }, { when: { from: 2 }, do: "hang" });
    const faults = creations.slice(0, 4).map((each) => decider.ofCall(each)?.do);
    expect(faults).toEqual(["reset", "reset", "hang", "hang"]);
  });
  it("without a fault so far is returned as written", () => {
    const unmet = { when: { verb: "delete" }, do: "refuse", status: 503, times: 1 };
    const decider = rules({ when: { verb: "create" }, do: "reset" }, unmet);
    decider.ofCall(create("a"));
    expect(decider.unusedRules()).toEqual([unmet]);
    expect(parsePlan(decider.replayPlan())).toEqual(
      parsePlan({ rules: [{ when: { verb: "create" }, do: "reset" }, unmet] }),
    );
  });
  it("kills before or after the call", () => {
    const kill = { do: "kill after", when: { nth: 1 } };
    const decider = rules(kill);
    expect(decider.ofCall(create("a"))).toEqual({ do: "kill", when: "after" });
    expect(decider.replayPlan()).toEqual({ rules: [kill] });
  });
  it("applies to events if its conditions name one, by the event's object", () => {
    const watch = call("GET", `/api/v1/configmaps?watch=true`);
    const event = (type: WatchedEvent["type"], name: string): WatchedEvent => {
      const object = { kind: "ConfigMap", metadata: { name, namespace: "default" } };
      return { type, line: JSON.stringify({ type, object }), isListed: false };
    };
    const decider = rules({
      when: { event: "MODIFIED", namespace: "default", name: "b", nth: 2 },
      do: "swallow",
    });
    expect(decider.ofCall(watch)).toBeUndefined();
    for (const other of [event("ADDED", "b"), event("MODIFIED", "a"), event("MODIFIED", "b")])
      expect(decider.ofEvent(other, watch)).toBeUndefined();
    expect(decider.ofEvent(event("MODIFIED", "b"), watch)?.do).toBe("swallow");
  });
});

describe("a read may be stale", () => {
  const old = rules({ do: "stale", view: "old" });
  it.each([
    ["?resourceVersion=0", true],
    ["/a?resourceVersion=0", true],
    ["?watch=true&resourceVersion=0", true],
    ["?watch=true&resourceVersion=7", true],
    ["?resourceVersion=7", true],
    ["?resourceVersion=7&resourceVersionMatch=NotOlderThan&limit=5", true],
    // These must return the last write, or one exact state.
    ["", false],
    ["/a", false],
    ["?watch=true", false],
    ["?resourceVersion=7&limit=5", false],
    ["?resourceVersion=7&resourceVersionMatch=Exact", false],
    ["?continue=x&limit=5", false],
  ])("%s: %s", (query, may) => {
    expect(old.ofCall(call("GET", collection + query))?.do === "stale").toBe(may);
  });
  it("with `quorum` in the plan, although it must be current", () => {
    const lies = rules({ do: "stale", view: "old", quorum: true });
    expect(lies.ofCall(call("GET", collection))).toEqual({ do: "stale", view: "old" });
  });
});

describe("a seed", () => {
  const seeded = (seed: number, more: object = {}) =>
    faultPlanDecider(parsePlan({ seed, rate: 0.3, ...more }));
  const many = Array.from({ length: 200 }, (_, i) =>
    i % 3 === 0 ? call("GET", collection) : call("PUT", `${collection}/a${i % 7}`, {}),
  );
  const faultsOf = (decider: ReturnType<typeof seeded>, calls = many) =>
    calls.map((each) => decider.ofCall(each));

  it("chooses the same faults again, and another seed others", () => {
    expect(faultsOf(seeded(5))).toEqual(faultsOf(seeded(5)));
    expect(faultsOf(seeded(5))).not.toEqual(faultsOf(seeded(6)));
  });
  it("chooses faults at the given rate", () => {
    const share = faultsOf(seeded(5)).filter((fault) => fault !== undefined).length / many.length;
    expect(share).toBeGreaterThan(0.15);
    expect(share).toBeLessThan(0.45);
    expect(met(seeded(5, { rate: 0 }), many)).toEqual([]);
  });
  it("chooses the fault of a call independently of other calls", () => {
    const lists = many.filter(({ verb }) => verb === "list");
    const [alone, amongOthers] = [seeded(5), seeded(5)];
    const among = many.flatMap((each) => {
      const fault = amongOthers.ofCall(each);
      return each.verb === "list" ? [fault] : [];
    });
    expect(faultsOf(alone, lists)).toEqual(among);
  });
  it("chooses only faults that are allowed and fit the call", () => {
    const faults = ["lose answer", "conflict"];
    const decider = seeded(5, { rate: 1, faults });
    expect(decider.ofCall(call("GET", collection))).toBeUndefined();
    expect(decider.ofCall(create("a"))).toEqual({ do: "lose answer" });
  });
  it("returns a plan that injects the same faults again", () => {
    const first = seeded(5);
    const faults = faultsOf(first);
    expect(faultsOf(faultPlanDecider(parsePlan(JSON.parse(JSON.stringify(first.replayPlan())))))).toEqual(
      faults,
    );
  });
});
