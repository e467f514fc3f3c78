import type { ObjectKey } from "@drover/controller";
import type { WriteGuard } from "./client.ts";
import { ApiError, WriteRefusedError } from "./errors.ts";
import type { KubeObject } from "./kube-object.ts";
import type { RequestShape } from "./request-shape.ts";
import type { ResourceRef } from "./resource-ref.ts";

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

/**
 * Executes a write, and reports its outcome to the guard. `write` returns the object, or undefined if the reply lacks
 * it.
 */
export async function followed<T extends KubeObject | undefined>(
  guard: WriteGuard | undefined,
  { ref, key }: { readonly ref: ResourceRef; readonly key: ObjectKey },
  write: () => Promise<T>,
): Promise<T> {
  const tell = guard?.follow?.(ref, key);
  if (tell === undefined) return write();
  try {
    const done = await write();
    tell(done ?? "unknown");
    return done;
  } catch (error) {
    tell(didNothing(error) ? "refused" : "unknown");
    throw error;
  }
}

const didNothing = (error: unknown): boolean =>
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
        follow(ref, key) {
          const told = [outer, inner].map((guard) => guard.follow?.(ref, key));
          return (outcome) => {
            for (const tell of told) tell?.(outcome);
          };
        },
        known: inner.known ?? outer.known,
      };
