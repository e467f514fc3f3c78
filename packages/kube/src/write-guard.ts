import type { ObjectKey } from "@drover/controller";
import type { WriteGuard } from "./client.ts";
import { ApiError, WriteRefusedError } from "./errors.ts";
import type { KubeObject } from "./kube-object.ts";
import type { RequestShape } from "./request-shape.ts";
import type { ResourceRef } from "./resource-ref.ts";

/** Called just before a request is sent; throwing keeps it from being sent. */
export type SendGuard = (() => void) | undefined;

/** A guard as the transport takes it: whatever it throws becomes a WriteRefusedError that names the request. */
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

/** Does a write that answers the object, or undefined where no answer tells of it, and tells its guard what it came to. */
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

/** A guard that asks and tells both. */
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
