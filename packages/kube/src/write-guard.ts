import type { WriteGuard } from "./client.ts";
import { WriteRefusedError } from "./errors.ts";
import type { RequestShape } from "./request-shape.ts";

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
