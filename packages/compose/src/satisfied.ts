import { createHash } from "node:crypto";
import type { ObjectMetadata } from "@drover/controller";
import { canonicalJson } from "@drover/json";
import { isControlledBy, type KubeObject } from "@drover/kube";
import type { DesiredChild } from "./child.ts";
import type { Correction } from "./correction.ts";
import { appliedHash } from "./marks.ts";

/** Whether a child has to be applied, and why: its declaration has changed, or others have changed the child. */
export type Difference = "none" | "declared" | "drifted";

/**
 * Decides without a request whether an apply would change a child. Fields that the function does not declare are not
 * compared.
 *
 * It may be wrong in one direction only: the server may write a value in another way (`1000m` as `1`), or others may
 * have added items to a list. Then a dry run changes nothing, and `remember` spares the next one.
 */
export interface Comparison {
  compare(child: DesiredChild, live: KubeObject, parent: ObjectMetadata): Difference;
  /** @param live the child as an apply that changes nothing returns it. */
  remember(child: DesiredChild, live: KubeObject): void;
  /** Notes that a child was applied; with `correction` if others had changed it. */
  applied(child: DesiredChild, live: KubeObject, correction?: Correction): void;
  /** The last correction of a child by this process, also if its annotation is lost. */
  correctionOf(live: KubeObject): Correction | undefined;
}

/** What a process remembers of a child: hashes only, since a child may be a Secret. */
interface Remembered {
  /** The hash that was applied last. */
  readonly hash: string;
  /** Of the declared fields as the server has written them. */
  readonly shape?: string;
  readonly correction?: Correction | undefined;
}

/** Most children that are remembered: one takes about 300 bytes. */
const maxRemembered = 20_000;

/** A comparison with a memory, which may be lost at any time. */
export function openComparison(): Comparison {
  /** By the uid of a child. */
  const memory = new Map<string, Remembered>();
  const note = ({ metadata: { uid } }: KubeObject, what: Remembered): void => {
    memory.delete(uid);
    memory.set(uid, what);
    for (const oldest of memory.keys()) {
      if (memory.size <= maxRemembered) break;
      memory.delete(oldest);
    }
  };
  return {
    compare(child, live, parent) {
      const known = memory.get(live.metadata.uid);
      const hash = appliedHash(live);
      // Another client has changed the hash if this process has applied it, and always if it is gone.
      if (hash !== child.hash)
        return hash === undefined || known?.hash === child.hash ? "drifted" : "declared";
      if (child.isOwned && !isControlledBy(live.metadata, parent)) return "drifted";
      // Another client has made the owner reference: with it, the child would be deleted with its parent.
      if (!child.isOwned && isControlledBy(live.metadata, parent)) return "declared";
      if (contains(live, child.object)) return "none";
      return known?.shape === shapeOf(child, live) ? "none" : "drifted";
    },
    remember(child, live) {
      const known = memory.get(live.metadata.uid);
      note(live, { hash: child.hash, shape: shapeOf(child, live), correction: known?.correction });
    },
    applied: (child, live, correction) => note(live, { hash: child.hash, correction }),
    correctionOf: ({ metadata }) => memory.get(metadata.uid)?.correction,
  };
}

const shapeOf = ({ hash, object }: DesiredChild, live: KubeObject): string =>
  createHash("sha256")
    .update(`${hash} ${canonicalJson(projection(live, object))}`)
    .digest("base64");

/** True if the live value has all declared fields, with these values. */
function contains(live: unknown, declared: unknown): boolean {
  if (Array.isArray(declared)) {
    if (!Array.isArray(live)) return live === undefined && declared.length === 0;
    return live.length === declared.length && declared.every((part, i) => contains(live[i], part));
  }
  if (typeof declared !== "object" || declared === null) return live === declared;
  const fields = Object.entries(declared);
  // The server leaves empty objects out.
  if (live === undefined) return fields.length === 0;
  if (typeof live !== "object" || live === null || Array.isArray(live)) return false;
  const present = new Map(Object.entries(live));
  return fields.every(([name, part]) => {
    const there: unknown = present.get(name);
    return contains(there, part) && (!isSelector(name) || there === undefined || contains(part, there));
  });
}

/**
 * True for a field that the API server takes as one value, although it is a map (`x-kubernetes-map-type: atomic`): an
 * apply removes what others have added to it. All such maps of Kubernetes' own kinds are selectors: `selector`,
 * `nodeSelector`, `podSelector`.
 */
const isSelector = (name: string): boolean => /selector$/i.test(name);

/** The live values of the declared fields. Lists and selectors are taken whole. */
function projection(live: unknown, declared: unknown): unknown {
  if (typeof declared !== "object" || declared === null || Array.isArray(declared)) return live;
  if (typeof live !== "object" || live === null || Array.isArray(live)) return live;
  const present = new Map(Object.entries(live));
  return Object.fromEntries(
    Object.entries(declared).map(([name, part]) => {
      const there: unknown = present.get(name);
      return [name, isSelector(name) ? there : projection(there, part)];
    }),
  );
}
