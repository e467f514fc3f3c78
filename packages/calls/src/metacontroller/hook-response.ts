import {
  type ChildObject,
  type Condition,
  markPrefix,
  type ObjectMetadata,
  type RelatedKind,
  type SettledChild,
} from "@drover/controller";
import { apiVersionOf, refOf } from "@drover/kube";
import { readMessage } from "@drover/webhook";
import { z } from "zod";
import { badAnswerError } from "../interpret.ts";
import { type MetacontrollerHooks, methodOf, updateOf } from "./hooks.ts";

/** The answer of a sync or finalize hook, for both kinds of controller. */
export interface HookResult {
  readonly children: readonly SettledChild[];
  /** Composite: replaces the status. Decorator: the same, and undefined leaves it as it is. */
  readonly status: Readonly<Record<string, unknown>> | undefined;
  readonly conditions: readonly Condition[];
  /** Decorator: of the object; null removes one. */
  readonly labels: Marks;
  readonly annotations: Marks;
  readonly requeueAfter?: `${number}ms`;
  /** True if a finalize hook lets the object go. */
  readonly finalized: boolean;
}

export type Marks = Readonly<Record<string, string | null>>;

const childSchema = z.looseObject({
  apiVersion: z.string().min(1),
  kind: z.string().min(1),
  metadata: z.looseObject({
    name: z.string().min(1),
    namespace: z.string().nullish(),
    labels: z.record(z.string(), z.string()).nullish(),
    annotations: z.record(z.string(), z.string()).nullish(),
    finalizers: z.array(z.string()).nullish(),
  }),
});
const conditionSchema = z.looseObject({
  type: z.string().min(1),
  status: z.enum(["True", "False", "Unknown"]),
  reason: z.string().nullish(),
  message: z.string().nullish(),
});
const statusSchema = z.looseObject({ conditions: z.array(conditionSchema).nullish() });
const marksSchema = z
  .record(z.string(), z.string().nullable())
  .refine((all) => Object.keys(all).every((name) => !name.startsWith(markPrefix)), {
    error: `has a name that begins with ${markPrefix}, which is for Drover's own`,
  });

const common = {
  resyncAfterSeconds: z.number().min(0).nullish(),
  finalized: z.boolean().nullish(),
};
const compositeFields = {
  ...common,
  status: statusSchema.nullish(),
  children: z.array(childSchema).nullish(),
};
const decoratorFields = {
  ...common,
  status: z.record(z.string(), z.unknown()).nullish(),
  attachments: z.array(childSchema).nullish(),
  labels: marksSchema.nullish(),
  annotations: marksSchema.nullish(),
};
/** As in Metacontroller, version 1 ignores unknown fields. */
const schemas = {
  Composite: { v1: z.looseObject(compositeFields), v2: z.strictObject(compositeFields) },
  Decorator: { v1: z.looseObject(decoratorFields), v2: z.strictObject(decoratorFields) },
} as const;

/**
 * Reads the response of a sync or finalize hook.
 *
 * A sync hook of a CompositeController must state `children`, also if there are none: Metacontroller takes any answer
 * without them as none, and deletes all children.
 *
 * @throws RetryError `BadAnswer`
 */
export function readHookResult(
  hooks: MetacontrollerHooks,
  body: Uint8Array,
  finalizing: boolean,
): HookResult {
  if (hooks.controller === "Decorator") {
    const answer = read(schemas.Decorator[hooks.version], body);
    return {
      ...resultOf(hooks, answer, answer.attachments ?? []),
      status: answer.status ?? undefined,
      conditions: [],
      labels: answer.labels ?? {},
      annotations: answer.annotations ?? {},
    };
  }
  const answer = read(schemas.Composite[hooks.version], body);
  if (!finalizing && answer.children === undefined)
    throw badAnswerError("it has no children. Give an empty list if there are none");
  // Drover states observedGeneration itself.
  const { conditions, observedGeneration: _, ...status } = answer.status ?? {};
  return {
    ...resultOf(hooks, answer, answer.children ?? []),
    status,
    conditions: (conditions ?? []).map(conditionOf),
    labels: {},
    annotations: {},
  };
}

const conditionOf = ({ type, status, reason, message }: z.output<typeof conditionSchema>): Condition => ({
  type,
  status,
  // The API server requires a reason.
  reason: reason ? reason : "NotGiven",
  message: message ?? "",
});

function resultOf(
  hooks: MetacontrollerHooks,
  { resyncAfterSeconds, finalized }: z.output<z.ZodObject<typeof common>>,
  children: readonly z.output<typeof childSchema>[],
): Pick<HookResult, "children" | "finalized" | "requeueAfter"> {
  const seconds = resyncAfterSeconds ?? 0;
  return {
    children: children.map((child) => settledChild(hooks, child)),
    finalized: finalized === true,
    ...(seconds > 0 && { requeueAfter: `${Math.max(1_000, Math.ceil(seconds * 1_000))}ms` as const }),
  };
}

/**
 * A child as Drover applies it: hooks also return what the API server or Metacontroller sets, above all when they return
 * a child that they got.
 */
function settledChild(hooks: MetacontrollerHooks, child: z.output<typeof childSchema>): SettledChild {
  const { metadata, status: _, ...object } = child;
  const { name, namespace, labels, annotations, finalizers } = metadata;
  const bare: ChildObject = {
    ...object,
    metadata: {
      name,
      ...(namespace && { namespace }),
      labels: withoutOthersMarks(labels),
      annotations: withoutOthersMarks(annotations),
      ...(finalizers && { finalizers }),
    },
  };
  const group = child.apiVersion.includes("/") ? (child.apiVersion.split("/")[0] ?? "") : "";
  return { object: bare, update: updateOf[methodOf(hooks, { group, kind: child.kind })] };
}

/** Labels and annotations without those of Drover, Metacontroller and kubectl. */
const withoutOthersMarks = (all: Readonly<Record<string, string>> | null | undefined) =>
  Object.fromEntries(
    Object.entries(all ?? {}).filter(
      ([name]) =>
        ![markPrefix, "metacontroller.k8s.io/", "kubectl.kubernetes.io/"].some((prefix) =>
          name.startsWith(prefix),
        ),
    ),
  );

const key = z.string().min(1);
const selectorSchema = z.looseObject({
  matchLabels: z.record(z.string(), z.string()).nullish(),
  matchExpressions: z
    .array(
      z.union([
        // As in Kubernetes: without values, everything would be selected, or nothing.
        z.object({ key, operator: z.enum(["In", "NotIn"]), values: z.array(z.string()).min(1) }),
        z.object({
          key,
          operator: z.enum(["Exists", "DoesNotExist"]),
          values: z.array(z.string()).max(0).nullish(),
        }),
      ]),
    )
    .nullish(),
});
/** Most rules of a customize hook: each costs requests. */
const maxRules = 100;
const rulesSchema = z.looseObject({
  relatedResources: z
    .array(
      z.looseObject({
        apiVersion: z.string().min(1),
        resource: z.string().min(1),
        labelSelector: selectorSchema.nullish(),
        namespaceSelector: z.undefined({ error: "is not supported: name the namespace" }).nullish(),
        namespace: z.string().nullish(),
        names: z.array(z.string().min(1)).nullish(),
      }),
    )
    .max(maxRules)
    .nullish(),
});

/**
 * Reads the response of a customize hook: which objects of the kinds that the function declares it gets.
 *
 * @throws RetryError `BadAnswer` for a kind that the function does not declare, or another namespace.
 */
export function readRelatedKinds(
  declared: readonly RelatedKind[],
  { namespace: parentNamespace }: Pick<ObjectMetadata, "namespace">,
  body: Uint8Array,
): readonly RelatedKind[] {
  const { relatedResources } = read(rulesSchema, body);
  return (relatedResources ?? []).map(({ apiVersion, resource, labelSelector, namespace, names }) => {
    const watched = declared.find(
      ({ kind }) => kind.plural === resource && apiVersionOf(refOf(kind)) === apiVersion,
    );
    if (watched === undefined)
      throw badAnswerError(
        `the customize hook names ${resource} of ${apiVersion}, which is not in spec.watches with related and names.code`,
      );
    if (
      namespace &&
      parentNamespace !== undefined &&
      watched.kind.scope === "Namespaced" &&
      namespace !== parentNamespace
    )
      throw badAnswerError(
        `the customize hook names ${resource} in ${namespace}. An object gets objects of its own namespace only`,
      );
    const within = parentNamespace === undefined && namespace ? { namespaces: [namespace] } : {};
    const { namespaces } = watched;
    if (namespace && namespaces?.includes(namespace) === false)
      throw badAnswerError(
        `the customize hook names ${resource} in ${namespace}, which is not in spec.watches`,
      );
    const ofRule = { ...watched, ...within };
    if (names && names.length > 0) {
      const qualified = names.map((name) =>
        parentNamespace === undefined && namespace ? `${namespace}/${name}` : name,
      );
      return { ...ofRule, names: () => qualified };
    }
    return {
      ...ofRule,
      names: { all: true },
      ...(labelSelector && { labelSelector: both(watched.labelSelector, labelSelector) }),
    };
  });
}

/** Selects what both select: a hook may limit what the function declares, and not widen it. */
function both(declared: RelatedKind["labelSelector"], given: z.output<typeof selectorSchema>) {
  const { matchLabels: labels = {}, matchExpressions: expressions = [] } = declared ?? {};
  return {
    matchLabels: given.matchLabels ?? {},
    matchExpressions: [
      ...Object.entries(labels).map(([key, value]) => ({ key, operator: "In" as const, values: [value] })),
      ...expressions,
      ...(given.matchExpressions ?? []).map(({ values, ...expression }) => ({
        ...expression,
        ...(values && values.length > 0 && { values }),
      })),
    ],
  };
}

function read<Message>(schema: z.ZodType<Message>, body: Uint8Array): Message {
  const answer = readMessage(body, schema);
  if (answer.ok) return answer.message;
  throw badAnswerError(answer.problem);
}
