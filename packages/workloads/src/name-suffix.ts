import { writeJson } from "@drover/json";
import { createHash } from "node:crypto";

/** Letters and digits that spell no words, as Kubernetes takes them (apimachinery, util/rand). */
const alphabet = "bcdfghjklmnpqrstvwxz2456789";

/** A short text for the end of a name: the same for the same values, and hardly ever for others. */
export function nameSuffix(values: readonly unknown[], length: number): string {
  const digest = createHash("sha256").update(writeJson(values)).digest();
  return Array.from({ length }, (_, i) => alphabet[(digest[i] ?? 0) % alphabet.length]).join("");
}
