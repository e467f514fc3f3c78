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
  known.find(pod, query, {})?.map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`);
/** The cache of a run after earlier wakes for pods. */
const knowing = (cachedLists: ReceivedCache["cachedLists"]) =>
  openRunCache([pod], { cachedLists, versions: { pods: "1" } });
/** The cache of the next run. */
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

describe("the cache of a run has", () => {
  it("the lists of the run before, and the changes since", () => {
    const known = next(asked(), news("c", 33), news("a", 31), news("b", 32, true));
    expect(versionsIn(known)).toEqual(["a 31", "c 33"]);
    const later = next(known, news("e", 36), news("d", 35), news("c", 34, true));
    expect(versionsIn(later)).toEqual(["a 31", "d 35", "e 36"]);
  });
  it("integers with all digits, of lists and of changes", () => {
    const n = 2n ** 53n + 1n;
    const known = knowing(undefined);
    known.add(pod, "all", listed(30, { ...podAt("a", 10), spec: { n } }));
    const copy = cachedObjectText({ ...podAt("c", 33), spec: { n: -n } }) ?? "";
    const delta = deltaText({ kind: "pods", key: keyOfPod("c"), resourceVersion: "33", copy });
    expect(next(known, delta).find(pod, "all", {})).toMatchObject([{ spec: { n } }, { spec: { n: -n } }]);
  });
  it("no objects that are nested too deep to be stored", () => {
    for (const deepest of ["", "9007199254740993"]) {
      const known = knowing(undefined);
      const spec = parseJson("[".repeat(9_000) + deepest + "]".repeat(9_000));
      known.add(pod, "all", listed(30, { ...podAt("a", 10), spec }));
      expect(known.text()).toBeUndefined();
      expect(cachedObjectText({ ...podAt("a", 10), spec })).toBeUndefined();
    }
  });
  it("its own writes, once they are answered", () => {
    const known = asked();
    const settled = known.observeWrite(pod);
    expect(versionsIn(known)).toBeUndefined();
    settled?.(podAt("a", 40));
    expect(versionsIn(known)).toEqual(["a 40", "b 20"]);
    known.add(pod, "others", listed(39, podAt("a", 10)));
    expect(versionsIn(known)).toEqual(["a 40", "b 20"]);
    known.observeWrite(pod)?.("refused");
    expect(versionsIn(next(known, news("a", 35)))).toEqual(["a 40", "b 20"]);
  });
  it("no objects of a kind during a write of it, and stores none for the next run", () => {
    const known = asked();
    const settled = known.observeWrite(pod);
    expect(known.text()).toBeUndefined();
    settled?.("refused");
    expect(versionsIn(next(known))).toEqual(["a 10", "b 20"]);
  });
  it("no object with a deletion at its last version", () => {
    for (const deltas of [
      [news("a", 31), news("a", 31, true)],
      [news("a", 31, true), news("a", 31)],
    ])
      expect(versionsIn(next(asked(), ...deltas))).toEqual(["b 20"]);
  });
  it("the results of the same queries only", () => {
    expect(versionsIn(next(asked()), "others")).toBeUndefined();
    expect(next(asked()).find(builtin.node, "all", {})).toBeUndefined();
  });
  it("an empty result if the kind has not affected the key yet, with the changes since", () => {
    const known = openRunCache([pod], { versions: {} });
    expect(known.find(pod, "strays", { mappedToKey: true })).toBeUndefined();
    known.add(pod, "all", listed(30));
    expect(known.find(pod, "strays", {})).toBeUndefined();
    expect(known.find(pod, "strays", { mappedToKey: true })).toEqual([]);
    expect(versionsIn(next(known, news("a", 31)), "strays")).toEqual(["a 31"]);
    expect(next(asked()).find(pod, "strays", { mappedToKey: true })).toBeUndefined();
  });
  it("no objects that only runs make, in the first run of a new object, and the changes and writes since", () => {
    const first = (versions = {}) => openRunCache([pod], { versions, isFirst: true });
    const made = { madeByRuns: true };
    const known = first();
    expect(known.find(pod, "mine", {})).toBeUndefined();
    expect(known.find(builtin.node, "mine", made)).toBeUndefined();
    expect(known.find(pod, "mine", made)).toEqual([]);
    expect(known.find(pod, "all", {})).toBeUndefined();
    known.observeWrite(pod)?.(podAt("a", 10));
    expect(known.find(pod, "mine", made)).toMatchObject([{ metadata: { name: "a" } }]);
    expect(versionsIn(next(known, news("a", 10), news("b", 9)), "mine")).toEqual(["a 10", "b 9"]);
    // An event of the kind, a run that is not the first, and a write whose answer was lost.
    expect(first({ pods: "1" }).find(pod, "mine", made)).toBeUndefined();
    expect(openRunCache([pod], { versions: {} }).find(pod, "mine", made)).toBeUndefined();
    const lost = first();
    lost.observeWrite(pod)?.("unknown");
    expect(lost.find(pod, "mine", made)).toBeUndefined();
    // A list after that has no object that was deleted before it.
    const listing = first();
    listing.find(pod, "mine", made);
    listing.add(pod, "all", listed(30));
    expect(versionsIn(next(listing, news("b", 29), news("c", 31)), "mine")).toEqual(["c 31"]);
    // A run that wrote objects before it looked for any.
    const making = first();
    making.observeWrite(pod)?.(podAt("a", 10));
    expect(making.find(pod, "mine", made)).toBeUndefined();
  });
  it("no older changes: of newer objects, or of objects that were deleted before the list", () => {
    expect(versionsIn(next(asked(), news("a", 9), news("c", 29)))).toEqual(["a 10", "b 20"]);
  });
});

describe("the cache has no list of a kind", () => {
  it.each<[string, RunCache]>([
    ["of a kind that is not requested", knowing({ stored: "{}", deltas: [] })],
    ["with an unreadable stored list", knowing({ stored: "no", deltas: [] })],
    ["with a delta that cannot be read", next(asked(), "no")],
    [
      "with a delta that may be older than a deletion since",
      next(next(asked(), news("c", 40, true)), news("c", 35)),
    ],
    ["with a deletion that may be of another object", next(asked(), news("b", 19, true))],
    ["with incomparable versions", next(asked(), news("a", 31).replaceAll("31", "zebra"))],
  ])("%s", (_, known) => {
    expect(versionsIn(known)).toBeUndefined();
  });
  it("after a write with an unknown outcome, even if the run lists it again; nor has the next run", () => {
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
  it("that is too long to be stored", () => {
    const known = asked();
    known.add(pod, "all", listed(30, ...Array.from({ length: 1_000 }, (_, i) => podAt(`p${i}`, 30))));
    expect(known.text()).toBeUndefined();
  });
});

/** A step, for one of three pods. `late`: its change is emitted again. */
const happening = fc.record({
  what: fc.constantFrom("change", "change", "delete", "emit", "emit", "late", "write", "run", "run"),
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
  /** Number of runs that needed no list. */
  knew = 0;

  change(name: string, isGone: boolean): number {
    const version = ++this.#version;
    if (!isGone || this.#now().has(name)) this.#history.push({ name, version, isGone });
    return version;
  }

  /** Emits the next event, in order. A deletion that a list shows has the last version of the object. */
  emit(byListing: boolean): void {
    const event = this.#history[this.#delivered];
    if (event === undefined) return;
    const before = this.#history.slice(0, this.#delivered).findLast(({ name }) => name === event.name);
    const version = event.isGone && byListing && before !== undefined ? before.version : event.version;
    this.#news.push(news(event.name, version, event.isGone));
    this.#delivered++;
  }

  emitAgain(late: number): void {
    const event = this.#history[this.#delivered - 1 - late];
    if (event !== undefined) this.#news.push(news(event.name, event.version, event.isGone));
  }

  /** A run that begins now; its writes are emitted, too. */
  run(writes: string | undefined): void {
    const known = knowing(this.#left === undefined ? undefined : { stored: this.#left, deltas: this.#news });
    this.#news = [];
    const found = known.find(pod, "all", {});
    if (found === undefined) {
      const items = [...this.#now()].map(([name, version]) => podAt(name, version));
      known.add(pod, "all", listed(this.#version, ...items));
    } else {
      this.knew++;
      this.#check(new Map(found.map(({ metadata }) => [metadata.name, Number(metadata.resourceVersion)])));
    }
    if (writes !== undefined) {
      const settled = known.observeWrite(pod);
      const version = this.change(writes, false);
      settled?.(podAt(writes, version));
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

  /** Every emitted and written change is cached, or a later state. */
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

it("the cache has every emitted and written change, after any steps", () => {
  let knew = 0;
  fc.assert(
    fc.property(fc.array(happening, { minLength: 1, maxLength: 60, size: "max" }), (happenings) => {
      const world = new World();
      for (const { what, name, byListing, late } of happenings)
        if (what === "run" || what === "write") world.run(what === "write" ? name : undefined);
        else if (what === "emit") world.emit(byListing);
        else if (what === "late") world.emitAgain(late);
        else world.change(name, what === "delete");
      knew += world.knew;
    }),
    { numRuns: 3_000, seed: 1 },
  );
  expect(knew).toBeGreaterThan(10_000);
});
