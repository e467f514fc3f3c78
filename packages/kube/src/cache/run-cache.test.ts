import { objectKey } from "@drover/controller";
import { parseJson } from "@drover/json";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { KubeObject } from "../objects/kube-object.ts";
import { openRunCache, type RunCache, type ReceivedCache } from "./run-cache.ts";
import { cachedObjectText } from "./cached-object.ts";
import { deltaText } from "./object-delta.ts";
import { builtin } from "../objects/resource-ref.ts";

const { pod } = builtin;
const keyOfPod = (name: string) => objectKey({ namespace: "a", name });
const podAt = (name: string, version: number): KubeObject => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { namespace: "a", name, uid: `uid of ${name}`, resourceVersion: String(version) },
});
const news = (name: string, version: number, isGone = false): string =>
  deltaText({
    kind: "pods",
    key: keyOfPod(name),
    resourceVersion: String(version),
    ...(!isGone && { copy: JSON.stringify(podAt(name, version)) }),
  });
const listed = (version: number, ...items: readonly KubeObject[]) => ({
  resourceVersion: String(version),
  items,
});
const versionsIn = (known: RunCache, query = "all") =>
  known.find(pod, query, false)?.map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`);
/** The cache of a run after earlier wakes for pods. */
const knowing = (cachedLists: ReceivedCache["cachedLists"]) =>
  openRunCache([pod], { cachedLists, versions: { pods: "1" } });
/** What the next run knows. */
function next(known: RunCache, ...deltas: readonly string[]): RunCache {
  const left = known.text();
  return knowing(left === undefined ? undefined : { stored: left, deltas });
}
/** A run that has listed a at 10 and b at 20, at version 30. */
function asked(): RunCache {
  const known = knowing(undefined);
  known.add(pod, "all", listed(30, podAt("a", 10), podAt("b", 20)));
  return known;
}

describe("a run knows", () => {
  it("what the run before has found, and the news since", () => {
    const known = next(asked(), news("c", 33), news("a", 31), news("b", 32, true));
    expect(versionsIn(known)).toEqual(["a 31", "c 33"]);
    const later = next(known, news("e", 36), news("d", 35), news("c", 34, true));
    expect(versionsIn(later)).toEqual(["a 31", "d 35", "e 36"]);
  });
  it("integers to their last digit, of what was found and of the news", () => {
    const n = 2n ** 53n + 1n;
    const known = knowing(undefined);
    known.add(pod, "all", listed(30, { ...podAt("a", 10), spec: { n } }));
    const copy = cachedObjectText({ ...podAt("c", 33), spec: { n: -n } }) ?? "";
    const delta = deltaText({ kind: "pods", key: keyOfPod("c"), resourceVersion: "33", copy });
    expect(next(known, delta).find(pod, "all", false)).toMatchObject([{ spec: { n } }, { spec: { n: -n } }]);
  });
  it("nothing of objects that are nested too deep to be written, nor is there a cached object of them", () => {
    for (const deepest of ["", "9007199254740993"]) {
      const known = knowing(undefined);
      const spec = parseJson("[".repeat(9_000) + deepest + "]".repeat(9_000));
      known.add(pod, "all", listed(30, { ...podAt("a", 10), spec }));
      expect(known.text()).toBeUndefined();
      expect(cachedObjectText({ ...podAt("a", 10), spec })).toBeUndefined();
    }
  });
  it("what it has written itself, once it is answered", () => {
    const known = asked();
    const tell = known.observeWrite(pod);
    expect(versionsIn(known)).toBeUndefined();
    tell?.(podAt("a", 40));
    expect(versionsIn(known)).toEqual(["a 40", "b 20"]);
    known.add(pod, "others", listed(39, podAt("a", 10)));
    expect(versionsIn(known)).toEqual(["a 40", "b 20"]);
    known.observeWrite(pod)?.("refused");
    expect(versionsIn(next(known, news("a", 35)))).toEqual(["a 40", "b 20"]);
  });
  it("nothing of a kind while a write of it is under way, and leaves nothing of it to the next", () => {
    const known = asked();
    const tell = known.observeWrite(pod);
    expect(known.text()).toBeUndefined();
    tell?.("refused");
    expect(versionsIn(next(known))).toEqual(["a 10", "b 20"]);
  });
  it("that an object is gone whose deletion has the last version that it had", () => {
    for (const deltas of [
      [news("a", 31), news("a", 31, true)],
      [news("a", 31, true), news("a", 31)],
    ])
      expect(versionsIn(next(asked(), ...deltas))).toEqual(["b 20"]);
  });
  it("the answers to what was asked, and to nothing else", () => {
    expect(versionsIn(next(asked()), "others")).toBeUndefined();
    expect(next(asked()).find(builtin.node, "all", false)).toBeUndefined();
  });
  it("that there are none that name it, if the kind has not affected the key yet, and the changes since", () => {
    const known = openRunCache([pod], { versions: {} });
    expect(known.find(pod, "strays", true)).toBeUndefined();
    known.add(pod, "all", listed(30));
    expect(known.find(pod, "strays", false)).toBeUndefined();
    expect(known.find(pod, "strays", true)).toEqual([]);
    expect(versionsIn(next(known, news("a", 31)), "strays")).toEqual(["a 31"]);
    expect(next(asked()).find(pod, "strays", true)).toBeUndefined();
  });
  it("nothing old: news of what it knows better, or of what was gone before it asked", () => {
    expect(versionsIn(next(asked(), news("a", 9), news("c", 29)))).toEqual(["a 10", "b 20"]);
  });
});

describe("the cache has no list of a kind", () => {
  it.each<[string, RunCache]>([
    ["of a kind that is not requested", knowing({ stored: "{}", deltas: [] })],
    ["whose stored list cannot be read", knowing({ stored: "no", deltas: [] })],
    ["with a delta that cannot be read", next(asked(), "no")],
    [
      "with a delta that may be older than a deletion since",
      next(next(asked(), news("c", 40, true)), news("c", 35)),
    ],
    ["with a deletion that may be of another object", next(asked(), news("b", 19, true))],
    ["whose versions cannot be compared", next(asked(), news("a", 31).replaceAll("31", "zebra"))],
  ])("%s", (_, known) => {
    expect(versionsIn(known)).toBeUndefined();
  });
  it("whose content a write of the run made uncertain, even if the run lists it again; nor does the next run", () => {
    const known = asked();
    known.observeWrite(pod)?.("unknown");
    known.add(pod, "all", listed(50, podAt("a", 10)));
    expect(versionsIn(known)).toBeUndefined();
    expect(known.text()).toBeUndefined();
  });
  it("that may hold secrets: nothing is stored, and no object cached", () => {
    const secret = { ...podAt("a", 10), kind: "Secret" };
    const known = openRunCache([builtin.secret], { versions: { secrets: "1" } });
    known.add(builtin.secret, "all", listed(30, secret));
    expect(known.text()).toBeUndefined();
    expect(cachedObjectText(secret)).toBeUndefined();
  });
  it("of which there is too much to be left", () => {
    const known = asked();
    known.add(pod, "all", listed(30, ...Array.from({ length: 1_000 }, (_, i) => podAt(`p${i}`, 30))));
    expect(known.text()).toBeUndefined();
  });
});

/** What happens, to one of three pods. `late`: its change is emitted once more. */
const happening = fc.record({
  what: fc.constantFrom("change", "change", "delete", "tell", "tell", "late", "write", "run", "run"),
  name: fc.constantFrom("a", "b", "c"),
  byListing: fc.boolean(),
  late: fc.nat(10),
});

/** Three pods, a bridge that emits their changes, and runs that begin with the cache that the run before has stored. */
class World {
  #version = 0;
  readonly #history: { readonly name: string; readonly version: number; readonly isGone: boolean }[] = [];
  #delivered = 0;
  #news: string[] = [];
  readonly #written = new Map<string, number>();
  #left: string | undefined;
  /** Runs that did not have to ask. */
  knew = 0;

  change(name: string, isGone: boolean): number {
    const version = ++this.#version;
    if (!isGone || this.#now().has(name)) this.#history.push({ name, version, isGone });
    return version;
  }

  /** The next event, in order; that something is gone by its last version, where a listing has found it. */
  tell(byListing: boolean): void {
    const event = this.#history[this.#delivered];
    if (event === undefined) return;
    const before = this.#history.slice(0, this.#delivered).findLast(({ name }) => name === event.name);
    const version = event.isGone && byListing && before !== undefined ? before.version : event.version;
    this.#news.push(news(event.name, version, event.isGone));
    this.#delivered++;
  }

  tellAgain(late: number): void {
    const event = this.#history[this.#delivered - 1 - late];
    if (event !== undefined) this.#news.push(news(event.name, event.version, event.isGone));
  }

  /** A run that begins now; its writes are emitted, too. */
  run(writes: string | undefined): void {
    const known = knowing(this.#left === undefined ? undefined : { stored: this.#left, deltas: this.#news });
    this.#news = [];
    const found = known.find(pod, "all", false);
    if (found === undefined) {
      const items = [...this.#now()].map(([name, version]) => podAt(name, version));
      known.add(pod, "all", listed(this.#version, ...items));
    } else {
      this.knew++;
      this.#check(new Map(found.map(({ metadata }) => [metadata.name, Number(metadata.resourceVersion)])));
    }
    if (writes !== undefined) {
      const tell = known.observeWrite(pod);
      const version = this.change(writes, false);
      tell?.(podAt(writes, version));
      this.#written.set(writes, version);
    }
    this.#left = known.text();
  }

  #now(): Map<string, number> {
    const now = new Map<string, number>();
    for (const { name, version, isGone } of this.#history)
      if (isGone) now.delete(name);
      else now.set(name, version);
    return now;
  }

  /** All that was emitted and written is cached, or a later state. */
  #check(known: ReadonlyMap<string, number>): void {
    for (const name of ["a", "b", "c"]) {
      const of = this.#history.filter((event) => event.name === name);
      const delivered = this.#history.slice(0, this.#delivered).findLast((event) => event.name === name);
      const least = Math.max(delivered?.version ?? 0, this.#written.get(name) ?? 0);
      const version = known.get(name);
      const state = `${name} is known at ${version}, of ${JSON.stringify(of)}; delivered and written: ${least}`;
      if (version === undefined) {
        const mayBeGone = of.some((event) => event.isGone && event.version >= least) || least === 0;
        expect(mayBeGone, state).toBe(true);
      } else {
        expect(version, state).toBeGreaterThanOrEqual(least);
        expect(of, state).toContainEqual({ name, version, isGone: false });
      }
    }
  }
}

it("knows all that was emitted and written, whatever happens", () => {
  let knew = 0;
  fc.assert(
    fc.property(fc.array(happening, { minLength: 1, maxLength: 60, size: "max" }), (happenings) => {
      const world = new World();
      for (const { what, name, byListing, late } of happenings)
        if (what === "run" || what === "write") world.run(what === "write" ? name : undefined);
        else if (what === "tell") world.tell(byListing);
        else if (what === "late") world.tellAgain(late);
        else world.change(name, what === "delete");
      knew += world.knew;
    }),
    { numRuns: 3_000, seed: 1 },
  );
  expect(knew).toBeGreaterThan(10_000);
});
