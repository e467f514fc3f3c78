import type { Milliseconds } from "@drover/controller";
import { setTimeout as delay } from "node:timers/promises";
import { pseudoRandom, type PseudoRandom } from "@drover/random";
import type { DirectApi } from "./direct-api.ts";
import type { ObservedVersion } from "./oracle/facts.ts";
import { type Kind, keyOf, namespaces, type Widget, widgetSchema } from "./kind.ts";

/** Makes changes, straight at the API server, one after the other. Nothing else writes objects of the kind. */
export interface Load {
  /** Makes this many changes, most of them to a few objects. Every eight changes, other objects are chosen. */
  run(changes: number): Promise<void>;
  /** Creates, until there are so many objects. */
  fill(objects: number): Promise<void>;
  /** One change that matters to every n-th object, and one of its status to the others. */
  touch(every: number): Promise<void>;
  /** The objects that must exist, by the answers to the writes. */
  readonly made: ReadonlyMap<string, Exclude<ObservedVersion, "gone">>;
}

const finalizer = "chaos.drover.dev/held";

export function openLoad(options: {
  readonly api: DirectApi;
  readonly kind: Kind;
  readonly seed: number;
  readonly objects: number;
  readonly pace: Milliseconds;
  /** Some objects refer to others of their namespace, in turns to other ones. */
  readonly references: boolean;
}): Load {
  const { api, kind, objects, pace, references } = options;
  const dice = pseudoRandom(options.seed);
  const keys = Array.from({ length: objects }, (_, i) => `${namespaces[i % 2] ?? ""}/w${i >> 1}`);
  const made = new Map<string, Widget>();
  let count = 0;

  const reference = () =>
    references && dice.chance(0.5) ? { ref: `w${dice.between(0, (objects - 1) >> 1)}` } : {};
  const keep = (answer: unknown): void => {
    const widget = widgetSchema.parse(answer);
    made.set(keyOf(widget), widget);
  };
  const create = async (key: string): Promise<void> => {
    const [namespace = "", name = ""] = key.split("/");
    const body = newWidget(kind, { name, size: ++count, ...reference() }, dice);
    keep(await api.demand("POST", kind.collectionOf(namespace), body));
  };
  const patch = async (key: string, body: object, subresource = ""): Promise<void> =>
    keep(await api.demand("PATCH", kind.pathOf(key) + subresource, body));
  const remove = async (key: string): Promise<void> => {
    await api.demand("DELETE", kind.pathOf(key));
    const there = await api.ask("GET", kind.pathOf(key));
    // Held by its finalizer, it still exists, with a deletionTimestamp.
    if (there.status === 404) made.delete(key);
    else keep(there.body);
  };
  const release = async (key: string): Promise<void> => {
    await patch(key, { metadata: { finalizers: null } });
    made.delete(key);
  };
  const end = async (key: string): Promise<void> => {
    if (made.get(key)?.metadata.deletionTimestamp === undefined) await remove(key);
    if (made.has(key)) await release(key);
  };
  // Nothing ever becomes again what it was: that would need no second look.
  const changeOf = (key: string): (() => Promise<void>) => {
    const present = made.get(key);
    if (present === undefined) return () => create(key);
    const number = ++count;
    const isGoing = present.metadata.deletionTimestamp !== undefined;
    if (isGoing && dice.chance(0.6)) return () => release(key);
    const what = dice.between(1, 100);
    if (what <= 30) return () => patch(key, { spec: { size: number, ...reference() } });
    if (what <= 45) return () => patch(key, { metadata: { labels: { team: `t${number}` } } });
    if (what <= 52)
      return () => patch(key, { metadata: { annotations: { note: `größer als ${number} ✓` } } });
    if (what <= 72) return () => patch(key, { status: { seen: number } }, "/status");
    if (what <= 86 && !isGoing) return () => remove(key);
    return async () => {
      await end(key);
      await create(key);
    };
  };
  let favourites: string[] = [];
  const run = async (changes: number): Promise<void> => {
    for (let i = 0; i < changes; i++) {
      // A few again and again, or all: the last change of some key is to fall into every moment, masked by no later one.
      if (i % 8 === 0) favourites = dice.some(keys, dice.chance(0.5) ? objects : Math.max(2, objects >> 2));
      await changeOf(dice.oneOf(favourites))();
      if (pace > 0) await delay(dice.between(0, 2 * pace));
    }
  };
  // Faults may overlap; changes do not.
  let before: Promise<void> = Promise.resolve();
  return {
    get made() {
      return new Map([...made].map(([key, { metadata }]) => [key, versionOf(metadata)]));
    },
    run: (changes) => (before = before.then(() => run(changes))),
    async fill(wanted) {
      for (const key of keys.slice(0, wanted)) await create(key);
    },
    async touch(every) {
      for (const [i, key] of [...made.keys()].entries()) {
        if (i % every === 0) await patch(key, { spec: { size: ++count } });
        else await patch(key, { status: { seen: ++count } }, "/status");
      }
    },
  };
}

const versionOf = ({ uid, resourceVersion }: Widget["metadata"]) => ({ uid, version: resourceVersion });

const newWidget = (
  { group }: Kind,
  { name, ...spec }: { readonly name: string; readonly size: number; readonly ref?: string },
  dice: PseudoRandom,
): object => ({
  apiVersion: `${group}/v1`,
  kind: "Widget",
  metadata: {
    name,
    labels: { team: `t${spec.size}` },
    ...(dice.chance(0.25) ? { finalizers: [finalizer] } : {}),
  },
  spec,
});
