import { InvalidKeyError, type Log, type ObjectKey } from "@drover/controller";
import { keyOf, type KubeObject } from "../kube-object.ts";
import { difference, ended, type Sighting } from "./difference.ts";
import type { ObjectEvent, ReflectorEvent } from "./object-event.ts";
import type { SeenIndex } from "./seen-index.ts";
import type { Telling } from "./stream.ts";

/**
 * Makes events of what the stream tells, by comparing it with what was seen.
 *
 * Guarantees: an event is taken before the next one is made; what it told is put into the index only then. So whatever
 * breaks in between is told again.
 */
export interface Teller {
  /** A new listing begins: what it names is collected from here. */
  beginListing(): void;
  /** @param first the stream has told no whole listing yet. */
  tell(telling: Telling, first: boolean): Promise<void>;
}

export interface TellerOptions {
  readonly seen: SeenIndex;
  readonly metadataOnly: boolean;
  readonly onEvent: (event: ReflectorEvent) => Promise<void> | void;
  readonly log: Log;
}

export function teller({ seen, metadataOnly, onEvent, log }: TellerOptions): Teller {
  let listed = new Set<ObjectKey>();

  const take = async (event: ObjectEvent): Promise<void> => {
    await onEvent(event);
    const { key, object, fingerprint } = event;
    await (event.type === "deleted" ? seen.forget(key) : seen.put({ key, object, fingerprint }));
  };
  const sight = async (sightings: readonly Sighting[]): Promise<readonly ObjectKey[]> => {
    const named = sightings.filter(({ object }) => hasKey(object, log));
    const keys = named.map(({ object }) => keyOf(object));
    const known = await seen.get(keys);
    for (const [index, sighting] of named.entries()) {
      for (const event of difference(known[index], sighting, metadataOnly)) await take(event);
    }
    return keys;
  };
  const sweep = async (): Promise<void> => {
    for await (const one of seen.all()) if (!listed.has(one.key)) await take(ended(one));
  };

  return {
    beginListing: () => (listed = new Set()),
    tell: async (telling, first) => {
      switch (telling.tell) {
        case "listed": {
          const { objects, believed } = telling;
          const keys = await sight(objects.map((object) => ({ is: "present", object, first, believed })));
          keys.forEach((key) => listed.add(key));
          return;
        }
        case "complete":
          await sweep();
          listed = new Set();
          return onEvent({ type: "synced", resourceVersion: telling.resourceVersion });
        case "changed":
          await sight([{ is: "present", object: telling.object }]);
          return;
        case "gone":
          await sight([{ is: "deleted", object: telling.object }]);
          return;
        case "position":
          return onEvent({ type: "position", resourceVersion: telling.resourceVersion });
      }
    },
  };
}

// Kubernetes lets a few kinds (RBAC) have names that no key can carry; such an object must not stop its neighbours.
function hasKey(object: KubeObject, log: Log): boolean {
  try {
    keyOf(object);
    return true;
  } catch (error) {
    if (!(error instanceof InvalidKeyError)) throw error;
    log.warn(
      { name: object.metadata.name, kind: object.kind, error },
      "an object is passed over: no key can name it",
    );
    return false;
  }
}
