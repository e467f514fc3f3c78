import { writeJson } from "@drover/json";
import { createHash } from "node:crypto";

/** Letters and digits that spell no words, as in Kubernetes (apimachinery, util/rand). */
const alphabet = "bcdfghjklmnpqrstvwxz2456789";

/** A short suffix for a name: the same for the same values, and nearly always another one for other values. */
export function nameSuffix(values: readonly unknown[], length: number): string {
  const digest = createHash("sha256").update(writeJson(values)).digest();
  return Array.from({ length }, (_, i) => alphabet[(digest[i] ?? 0) % alphabet.length]).join("");
}
