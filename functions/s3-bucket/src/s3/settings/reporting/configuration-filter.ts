import { isList, type SettingValue } from "@drover/external";
import { canonicalJson } from "@drover/json";
import type { z } from "zod";
import { toApi } from "../api-shape.ts";
import { fieldsOf, sorted } from "../canonical.ts";
import { filterSpec } from "../objects/object-filter.ts";

export const objectFilterSpec = filterSpec({})
  .optional()
  .describe("The objects that it is for. Left out: all.");
export type ObjectFilter = z.output<typeof objectFilterSpec>;

/** The conditions of a filter in the API's shape, wherever the spec has them. */
export function conditionsOf(filter: ObjectFilter) {
  const { prefix, tag, and } = filter ?? {};
  const Prefix = and?.prefix ?? prefix ?? "";
  const Tags = toApi([...(tag === undefined ? [] : [tag]), ...(and?.tags ?? [])]);
  return { ...(Prefix !== "" && { Prefix }), ...(Tags.length > 0 && { Tags }) };
}

/** The filter as S3 takes it: undefined for all objects, one condition by itself, and more than one in `And`. */
export function filterToApi(filter: ObjectFilter) {
  const conditions = conditionsOf(filter);
  const { Prefix, Tags = [] } = conditions;
  const [Tag, ...moreTags] = Tags;
  if (Tag === undefined) return Prefix === undefined ? undefined : { Prefix };
  return Prefix === undefined && moreTags.length === 0 ? { Tag } : { And: conditions };
}

/**
 * An item whose filter is text: a filter with one more condition is another filter. A condition by itself and in `and`
 * is the same, and an empty prefix is none.
 */
export function withCanonicalFilter(item: SettingValue): {
  readonly [field: string]: SettingValue | undefined;
} {
  const { filter, ...rest } = fieldsOf(item);
  const { and, tag, ...single } = fieldsOf(filter);
  const { tags, ...several } = fieldsOf(and);
  const { prefix, ...others } = { ...single, ...several };
  const all = [...(tag === undefined ? [] : [tag]), ...(isList(tags) ? tags : [])];
  const conditions = {
    ...others,
    prefix: prefix === "" ? undefined : prefix,
    tags: all.length === 0 ? undefined : sorted(all),
  };
  return { ...rest, filter: canonicalJson(conditions) };
}
