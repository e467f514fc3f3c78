import { createHash, timingSafeEqual } from "node:crypto";

/** True if two are equal. The time that it takes reveals neither where they differ, nor how long they are. */
export const isEqualInConstantTime = (a: Uint8Array, b: Uint8Array): boolean =>
  timingSafeEqual(digestOf(a), digestOf(b));

const digestOf = (bytes: Uint8Array): Buffer => createHash("sha256").update(bytes).digest();
