import type { ObjectKey } from "@drover/controller";
import type { WriteGuard } from "./client.ts";
import { ApiError, WriteRefusedError } from "../errors.ts";
import type { KubeObject } from "../objects/kube-object.ts";
import type { RequestShape } from "./request-shape.ts";
import type { ResourceRef } from "../objects/resource-ref.ts";

/** Called just before a request is sent. If it throws, nothing is sent. */
export type SendGuard = (() => void) | undefined;

/** The guard for the transport: any error of it becomes a WriteRefusedError that names the request. */
export function guardOf({ name }: RequestShape, guard: WriteGuard | undefined): SendGuard {
  if (guard === undefined) return undefined;
  return () => {
    try {
      guard.beforeWrite();
    } catch (cause) {
      throw new WriteRefusedError(name, cause);
    }
  };
}

/** The object that a write is for. */
export interface Written {
  readonly ref: ResourceRef;
  readonly key: ObjectKey;
  /** True if the reply is another object, such as a Scale: then the guard gets `unknown`. */
  readonly repliesOther?: boolean;
}

/**
 * Executes a write, and reports its outcome to the guard. `write` returns the object, or undefined if the reply lacks
 * it.
 */
export async function performWrite<T extends KubeObject | undefined>(
  guard: WriteGuard | undefined,
  { ref, key, repliesOther = false }: Written,
  write: () => Promise<T>,
): Promise<T> {
  const report = guard?.observeWrite?.(ref, key);
  if (report === undefined) return write();
  try {
    const done = await write();
    report(repliesOther ? "unknown" : (done ?? "unknown"));
    return done;
  } catch (error) {
    report(isRefusal(error) ? "refused" : "unknown");
    throw error;
  }
}

const isRefusal = (error: unknown): boolean =>
  error instanceof WriteRefusedError || (error instanceof ApiError && error.status < 500);

/** A guard that calls both, the outer one first. */
export const bothGuards = (outer: WriteGuard | undefined, inner: WriteGuard): WriteGuard =>
  outer === undefined
    ? inner
    : {
        beforeWrite() {
          outer.beforeWrite();
          inner.beforeWrite();
        },
        observeWrite(ref, key) {
          const reports = [outer, inner].map((guard) => guard.observeWrite?.(ref, key));
          return (outcome) => {
            for (const report of reports) report?.(outcome);
          };
        },
        cache: inner.cache ?? outer.cache,
        fieldManager: inner.fieldManager ?? outer.fieldManager,
        owner: inner.owner ?? outer.owner,
      };
