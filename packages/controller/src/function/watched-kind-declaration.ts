import { z } from "zod";
import { durationSchema, parseDuration } from "../duration.ts";
import { checkedAtRun } from "../structural/checks.ts";
import { dnsLabel } from "../resource/resource.ts";

/**
 * The fields that are needed to watch a kind. The API server accepts no other names for kinds, and none of these can
 * change the structure of a URL.
 */
export const kind = {
  group: z
    .string()
    .max(253)
    .regex(
      /^([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?([.][a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)*)?$/,
      "give an API group such as apps",
    )
    .meta({ description: "API group; empty for Kubernetes' core kinds." }),
  version: z.string().regex(dnsLabel, "give a version such as v1"),
  kind: z.string().regex(/^[A-Za-z][A-Za-z0-9]{0,62}$/, "give a kind such as ConfigMap"),
  plural: z.string().regex(dnsLabel, "give the kind's plural such as configmaps"),
  scope: z.enum(["Namespaced", "Cluster"]),
};

const namespace = z.string().regex(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/, "give the name of a namespace");

/** Which objects of a kind affect the controller, and which of their changes. */
export const predicates = {
  namespaces: z.array(namespace).min(1).max(100).optional().meta({
    description: "Only objects in these namespaces. Left out: in all.",
  }),
  labelSelector: z
    .strictObject({
      matchLabels: z.record(z.string(), z.string()).optional(),
      matchExpressions: z
        .array(
          z.strictObject({
            key: z.string().min(1),
            operator: z.enum(["In", "NotIn", "Exists", "DoesNotExist"]),
            values: z.array(z.string()).max(100).optional(),
          }),
        )
        .max(100)
        .optional(),
    })
    .optional()
    .meta({ description: "Only objects whose labels match." }),
  changed: z
    .array(z.string().min(1))
    .min(1)
    .max(50)
    .optional()
    .meta({
      description:
        "Only when a value at one of these paths changes, such as spec.size or metadata.labels, or the object is " +
        "created or deleted. Left out: all changes, except of the status of `for`.",
    }),
};

export const watchedKind = z.strictObject({ ...kind, ...predicates });

/** A longer wait would be mistaken for a loss. */
const longestBatch = "1m";

const wakingKind = watchedKind.extend({
  batchFor: durationSchema
    .refine((text) => parseDuration(text) <= parseDuration(longestBatch), {
      error: `is longer than ${longestBatch}, the longest wait`,
      ...checkedAtRun,
    })
    .optional()
    .meta({
      description:
        "How long a change waits for further ones before the objects that it affects are reconciled, once for all of " +
        `them; at most ${longestBatch}. Left out: not at all.`,
    }),
});

export const ownedKind = wakingKind.extend({
  copies: z.boolean().optional().meta({
    description:
      "A run may use the lists of the run before, with all changes since. Left out: it lists them live.",
  }),
  acrossNamespaces: z
    .boolean()
    .optional()
    .meta({
      description:
        "Declared children may be in other namespaces than their parent, and cluster-scoped ones may have a parent with a " +
        "namespace. Users that may write objects of this kind in one namespace can then cause runs in others.",
    }),
});

const path = (description: string) => z.string().min(1).optional().meta({ description });

/** How the objects that a watched object affects are found: by one of these fields, and in which namespaces. */
export const namesDeclaration = z.strictObject({
  label: z.string().min(1).optional().meta({ description: "The label whose value is the name." }),
  annotation: z.string().min(1).optional().meta({ description: "The annotation whose value is the name." }),
  field: path(
    "The path of the name or names, such as spec.ref.name or spec.volumes[].secret.secretName; or of objects with name " +
      "and namespace, such as spec.refs[].",
  ),
  referencedBy: path(
    "A path in the objects of `for`, as above: an object affects those with its name there.",
  ),
  selectedBy: path(
    "The path of a label selector, or of a map of labels, in the objects of `for`: a matching object affects them.",
  ),
  all: z.literal(true).optional().meta({ description: "It affects every object of `for`." }),
  code: z
    .literal(true)
    .optional()
    .meta({
      description:
        "The function's code finds the objects that it affects, in a separate job. With `related`, it names the objects " +
        "that it reads, and each object of the kind affects all in its namespace.",
    }),
  acrossNamespaces: z
    .boolean()
    .optional()
    .meta({
      description:
        "Also accept namespace/name and names of cluster-scoped objects, and apply selectors and `all` to all " +
        "namespaces. Users that may write an object in one namespace can then cause runs in others.",
    }),
});

export const watchedByName = wakingKind.extend({
  names: namesDeclaration,
  related: z
    .boolean()
    .optional()
    .meta({
      description:
        "True if a function that declares children gets the objects that affect an object, with it. They are read with " +
        "the function's permissions, also Secrets.",
    }),
});

/** How the objects that a watched object affects are found, as a ReconcileFunction declares it. */
export type NamesDeclaration = Omit<z.output<typeof namesDeclaration>, "code">;

/** Which objects of a kind affect a controller, and which of their changes. */
export type Predicates = Readonly<Omit<z.output<typeof watchedKind>, keyof typeof kind>>;
