import type { KubeObject } from "@drover/kube";
import { type ChildId, childKinds, isChildKind } from "../histories/actions.ts";

/** The versions of the children of one parent. */
export type Versions = ReadonlyMap<ChildId, string>;

/** A call of the hook that declares children. */
export interface HookCall {
  readonly parentUid: string;
  readonly generation: number;
  /** The children that the contestant has observed. */
  readonly observed: Versions;
}

export function versionsOf(objects: readonly Pick<KubeObject, "kind" | "metadata">[]): Versions {
  return new Map(
    objects.map(({ kind, metadata: { name, resourceVersion } }): [ChildId, string] => {
      if (!isChildKind(kind)) throw new Error(`${kind} is none of ${Object.keys(childKinds).join(", ")}.`);
      return [`${kind}/${name}`, resourceVersion];
    }),
  );
}

export const isSame = (one: Versions, other: Versions): boolean =>
  one.size === other.size && [...one].every(([id, version]) => other.get(id) === version);

/** The calls of all hooks. */
export interface HookCalls {
  record(call: HookCall): void;
  /**
   * A call for a parent of this generation or a later one; undefined if there is none within `patience` ms. It may have
   * come already: a controller can be faster than the answer to the write that made the generation.
   */
  callFor(parentUid: string, generation: number, patience: number): Promise<HookCall | undefined>;
}

export function openHookCalls(): HookCalls {
  /** The last call for each parent. */
  const last = new Map<string, HookCall>();
  const waiting = new Set<() => void>();
  return {
    record(call) {
      last.set(call.parentUid, call);
      for (const look of waiting) look();
    },
    async callFor(parentUid, generation, patience) {
      const { promise, resolve } = Promise.withResolvers<HookCall | undefined>();
      const timer = setTimeout(() => resolve(undefined), patience);
      const look = (): void => {
        const call = last.get(parentUid);
        if (call !== undefined && call.generation >= generation) resolve(call);
      };
      waiting.add(look);
      look();
      const call = await promise;
      clearTimeout(timer);
      waiting.delete(look);
      return call;
    },
  };
}
