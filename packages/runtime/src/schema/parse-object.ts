import type { ObjectMetadata, Resource, SpecOf, StatusCondition, ObjectStatus } from "@drover/controller";
import type { KubeObject } from "@drover/kube";
import { z } from "zod";
import { expandUnionIssues, withExactIntegers } from "./exact-integers.ts";
import { withLinearPatterns } from "./linear-patterns.ts";

/** An object as one run uses it: as it was read, and parsed. */
export interface ParsedObject<R extends Resource> {
  /** As the API server sent it. The status is written back to this. */
  readonly raw: KubeObject;
  readonly metadata: ObjectMetadata;
  readonly spec: SpecOf<R>;
  readonly status: ObjectStatus<R>;
}

export type ParseResult<R extends Resource> =
  { readonly ok: true; readonly object: ParsedObject<R> } | { readonly ok: false; readonly problem: string };

const conditionSchema = z.object({
  type: z.string(),
  status: z.enum(["True", "False", "Unknown"]),
  reason: z.string(),
  message: z.string(),
  observedGeneration: z.number().default(0),
  lastTransitionTime: z.string(),
});

const ownStatusSchema = z.object({
  observedGeneration: z.number().exactOptional().catch(0),
  conditions: z.array(conditionSchema).exactOptional().catch([]),
});

/**
 * Parses an object with its resource's schema. For a spec that does not parse, returns the problem as text. A missing
 * spec counts as empty: many kinds of Kubernetes have none. A status that does not parse counts as absent, since nothing
 * relies on it.
 */
export function parseObject<R extends Resource>(resource: R, raw: KubeObject): ParseResult<R> {
  const spec = withExactIntegers(withLinearPatterns(resource.spec)).safeParse(raw["spec"] ?? {});
  if (!spec.success) return { ok: false, problem: specProblem(spec.error) };
  return {
    ok: true,
    // The schema is R's own, but TypeScript does not follow a generic through safeParse.
    object: { raw, metadata: raw.metadata, spec: spec.data as SpecOf<R>, status: parseStatus(resource, raw) },
  };
}

/** The conditions in the object's status; empty if they do not parse. */
export function conditionsOf(raw: KubeObject): readonly StatusCondition[] {
  return ownStatusSchema.safeParse(raw["status"]).data?.conditions ?? [];
}

function parseStatus<R extends Resource>(resource: R, raw: KubeObject): ObjectStatus<R> {
  const own = ownStatusSchema.safeParse(raw["status"]);
  const authors = partialStatus(resource).read.safeParse(raw["status"]);
  const stated: Record<string, unknown> = { ...authors.data, ...own.data };
  return stated as ObjectStatus<R>; // as above
}

/** Cached: zod compiles a schema at its first use, which takes longer than parsing a status. */
const partials = new WeakMap<Resource["status"], PartialStatus>();

interface PartialStatus {
  /** Without the author's refinements, which may rely on fields that are not set yet. */
  readonly read: z.ZodType<object>;
  readonly written: z.ZodType<object>;
}

/** The schemas of the author's part of a status. All fields are optional, because a status is written step by step. */
export function partialStatus({ status }: Pick<Resource, "status">): PartialStatus {
  const known = partials.get(status);
  if (known !== undefined) return known;
  const { def } = withExactIntegers(withLinearPatterns(status));
  // zod's own `partial` refuses schemas that have refinements.
  const shape = Object.fromEntries(
    Object.entries(def.shape).map(([name, field]) => [name, z.optional(field)]),
  );
  const partial = {
    read: status.clone({ ...def, shape, checks: [] }),
    written: status.clone({ ...def, shape }),
  };
  partials.set(status, partial);
  return partial;
}

function specProblem(error: z.ZodError): string {
  const problems = expandUnionIssues(error.issues)
    .slice(0, 5)
    .map((issue) => {
      return `${["spec", ...issue.path].map(String).join(".")}: ${issue.message.replace(/\.$/, "")}`;
    });
  return `${problems.join("; ")}. Change the object's spec.`;
}
