import { type ObjectKey, tryParseObjectKey } from "@drover/controller";
import type { MappingResult, SeenObject } from "@drover/kube";
import { z } from "zod";
import { parsedJson } from "./parsed-json.ts";

/**
 * The record of an object in the index:
 * `[uid, version, { subscription: [view, key, ...] }, { subscription: [term, ...] }]`.
 * 0 stands for the object's own key, the most frequent one: a hundred bytes for an object that only names itself. The
 * last part is left out if nothing is looked up.
 */
export function recordOf({ key, uid, resourceVersion, matched }: SeenObject): string {
  const short = (one: string): string | 0 => (one === key ? 0 : one);
  const results = Object.fromEntries(
    Object.entries(matched).map(([id, { view, keys }]) => [id, [view, ...keys.map(short)]]),
  );
  const sought = Object.entries(matched).flatMap(([id, { sought: terms }]) =>
    terms === undefined ? [] : [[id, terms.map(short)] as const],
  );
  const record = [uid, resourceVersion, results];
  return JSON.stringify(sought.length === 0 ? record : [...record, Object.fromEntries(sought)]);
}

const refuse = (context: z.RefinementCtx): never => {
  context.addIssue("Not an object key.");
  return z.NEVER;
};
const keySchema = z.union([
  z.literal(0),
  z.string().transform((text, context) => tryParseObjectKey(text) ?? refuse(context)),
]);
const recordSchema = z.tuple([
  z.string().min(1),
  z.string().min(1),
  z.record(z.string(), z.tuple([z.string()], keySchema)),
  z.record(z.string(), z.array(z.union([z.literal(0), z.string()]))).optional(),
]);

/** Undefined if the text is not a record: another client wrote it, and the object counts as not seen. */
export function parseRecord(key: ObjectKey, record: string): SeenObject | undefined {
  const parsed = parsedJson(recordSchema, record);
  if (parsed === undefined) return undefined;
  const [uid, resourceVersion, results, sought = {}] = parsed;
  const matched = Object.entries(results).map(([id, [view, ...keys]]): [string, MappingResult] => {
    const terms = Object.hasOwn(sought, id) ? sought[id] : undefined;
    return [
      id,
      {
        view,
        keys: keys.map((one) => (one === 0 ? key : one)),
        ...(terms && { sought: terms.map((one) => (one === 0 ? key : one)) }),
      },
    ];
  });
  return { key, uid, resourceVersion, matched: Object.fromEntries(matched) };
}
