import { type ObjectKey, parseObjectKey } from "@drover/controller";
import type { Meaning, SeenObject } from "@drover/kube";
import { z } from "zod";

/**
 * An object as the index holds it: `[uid, version, { subscription: [view, key, ...] }]`, where 0 stands for the object's
 * own key, which most have: a hundred bytes for an object that only names itself.
 */
export function recordOf({ key, uid, resourceVersion, meant }: SeenObject): string {
  const told = Object.entries(meant).map(([id, { view, keys }]) => [
    id,
    [view, ...keys.map((one) => (one === key ? 0 : one))],
  ]);
  return JSON.stringify([uid, resourceVersion, Object.fromEntries(told)]);
}

const keySchema = z.union([z.literal(0), z.string().transform((text) => parseObjectKey(text))]);
const recordSchema = z.tuple([
  z.string().min(1),
  z.string().min(1),
  z.record(z.string(), z.tuple([z.string()], keySchema)),
]);

/** Undefined for what is no record: somebody else wrote it, and the object counts as not seen. */
export function seenFrom(key: ObjectKey, record: string): SeenObject | undefined {
  const parsed = parsedRecord(record);
  if (parsed === undefined) return undefined;
  const [uid, resourceVersion, told] = parsed;
  const meant = Object.entries(told).map(([id, [view, ...keys]]): [string, Meaning] => [
    id,
    { view, keys: keys.map((one) => (one === 0 ? key : one)) },
  ]);
  return { key, uid, resourceVersion, meant: Object.fromEntries(meant) };
}

function parsedRecord(record: string): z.output<typeof recordSchema> | undefined {
  try {
    const value: unknown = JSON.parse(record);
    return recordSchema.safeParse(value).data;
  } catch {
    return undefined; // no JSON, or keys that are none
  }
}
