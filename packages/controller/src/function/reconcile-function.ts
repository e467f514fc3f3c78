import { z } from "zod";
import type { Controller } from "../definition/controller.ts";
import { hookDeclaration } from "./hook-declaration.ts";
import {
  containerDeclaration,
  runSettingsDeclaration,
  permissionsDeclaration,
  scalingDeclaration,
  webhookDeclaration,
} from "./deployment-declarations.ts";
import { functionStatus } from "./function-status.ts";
import { defineResource, dnsLabel, type Resource } from "../resource/resource.ts";
import type { Kind } from "../definition/watched-kinds.ts";

/**
 * The fields that are needed to watch a kind. The API server accepts no other names for kinds, and none of these can
 * change the structure of a URL.
 */
const kind = {
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
const predicates = {
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

const watchedKind = z.strictObject({ ...kind, ...predicates });
const ownedKind = watchedKind.extend({
  copies: z.boolean().optional().meta({
    description:
      "A run may use the lists of the run before, with all changes since. Left out: it lists them live.",
  }),
});

const path = (description: string) => z.string().min(1).optional().meta({ description });

/** How the objects that a watched object affects are found: by one of these fields, and in which namespaces. */
const namesDeclaration = z.strictObject({
  label: z.string().min(1).optional().meta({ description: "The label whose value is the name." }),
  annotation: z.string().min(1).optional().meta({ description: "The annotation whose value is the name." }),
  field: path(
    "The path of the name or names, such as spec.ref.name or spec.volumes[].secret.secretName; or of objects with name " +
      "and namespace, such as spec.refs[].",
  ),
  referencedBy: path(
    "A path in the objects of `for`, as above: an object affects those with its name there.",
  ),
  selectedBy: path("The path of a label selector in the objects of `for`: a matching object affects them."),
  all: z.literal(true).optional().meta({ description: "It affects every object of `for`." }),
  code: z.literal(true).optional().meta({
    description: "The function's code finds the objects that it affects, in a separate job.",
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

const campaign = z.strictObject({
  name: z.string().min(1).max(63).meta({ description: "Another name begins another campaign." }),
  perSecond: z.int().min(1).max(10_000).optional().meta({
    description: "Maximum number of objects per second. Default 50.",
  }),
  paused: z.boolean().optional().meta({ description: "Wake no objects for the time being." }),
});
export type Campaign = z.output<typeof campaign>;

/**
 * kubectl scale writes `replicas`, which has an effect only on functions that KEDA scales. For others a new value is
 * refused. An old value that was left there does not cause other changes to be refused.
 */
const scaledByKeda = {
  rule:
    "!has(self.scaling) || !has(self.scaling.replicas) || (has(self.scaling.by) && self.scaling.by == 'KEDA') || " +
    "(has(oldSelf.scaling) && has(oldSelf.scaling.replicas) && oldSelf.scaling.replicas == self.scaling.replicas)",
  message: "Drover scales this function by what is due: set scaling.min and scaling.max instead of replicas",
};

/**
 * A deployed controller: the kind that it is for and the kinds that affect it (for the bridge), how it runs and scales
 * (for the deployer), and how it is called (for the gateway). Its queue belongs to this one object (`queueOf`): another
 * object of the same name, in another namespace or at another time, has another queue.
 */
export const ReconcileFunction = defineResource({
  group: "drover.dev",
  version: "v1alpha1",
  kind: "ReconcileFunction",
  scope: "Namespaced",
  shortNames: ["rf"],
  description: "A controller, deployed as a function.",
  spec: z
    .strictObject({
      for: watchedKind,
      owns: z.array(ownedKind).max(50).optional().meta({
        description: "Kinds with objects that affect their controller owner, if it is of the kind `for`.",
      }),
      watches: z
        .array(z.strictObject({ ...kind, ...predicates, names: namesDeclaration }))
        .max(50)
        .optional()
        .meta({
          description: "Other kinds; `names` finds the objects of `for` that an object of them affects.",
        }),
      hooks: z.array(hookDeclaration).max(20).optional().meta({
        description: "Events from outside the cluster that affect objects of the kind `for`.",
      }),
      copies: z
        .boolean()
        .optional()
        .meta({
          description:
            "Runs may get a copy of their object from the watch or from the last run, if it is at least as new as all " +
            "that runs have read or written. Left out: they read it live.",
        }),
      campaign: campaign.optional().meta({
        description: "Reconcile every object once more, for example after a bug was fixed.",
      }),
      ...runSettingsDeclaration,
      paused: z
        .boolean()
        .optional()
        .meta({ description: "Start no run, not even for objects that are being deleted." }),
      delivery: z.enum(["pull", "webhook"]).optional().meta({
        description:
          "pull: it takes keys from Redis itself. webhook: the gateway takes them and calls it. Default pull.",
      }),
      webhook: webhookDeclaration.optional(),
      container: containerDeclaration.optional(),
      permissions: permissionsDeclaration.optional(),
      scaling: scalingDeclaration.optional(),
      onRollout: z
        .enum(["retry", "campaign", "none"])
        .optional()
        .meta({
          description:
            "Which objects a new version of the container reconciles once more. retry: those that failed or are parked; " +
            "campaign: all; none: no object. Default retry.",
        }),
    })
    .meta({ kubernetes: { cel: [scaledByKeda] } }),
  status: functionStatus,
  scale: {
    specReplicasPath: ".spec.scaling.replicas",
    statusReplicasPath: ".status.replicas",
    labelSelectorPath: ".status.selector",
  },
  printerColumns: [
    { name: "Pods", type: "integer", jsonPath: ".status.replicas" },
    { name: "Due", type: "integer", jsonPath: ".status.due" },
    { name: "Failing", type: "integer", jsonPath: ".status.failing" },
    { name: "Parked", type: "integer", jsonPath: ".status.parked" },
    { name: "Ready", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: "Reason", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].reason' },
    { name: "RolledOut", type: "string", jsonPath: '.status.conditions[?(@.type=="RolledOut")].status' },
    { name: "Paused", type: "boolean", jsonPath: ".status.paused" },
    { name: "Problem", type: "string", jsonPath: ".status.problem", priority: 1 },
    { name: "Campaign", type: "string", jsonPath: ".status.campaign.state", priority: 1 },
    { name: "Left", type: "integer", jsonPath: ".status.campaign.left", priority: 1 },
  ],
});

export type ReconcileFunctionStatus = z.output<(typeof ReconcileFunction)["status"]>;
export type CampaignProgress = NonNullable<ReconcileFunctionStatus["campaign"]>;
export type ReconcileFunctionSpec = z.output<(typeof ReconcileFunction)["spec"]>;

/** How the objects that a watched object affects are found, as a ReconcileFunction declares it. */
export type NamesDeclaration = Omit<z.output<typeof namesDeclaration>, "code">;
/** Which objects of a kind affect a controller, and which of their changes. */
export type Predicates = Readonly<Omit<z.output<typeof watchedKind>, keyof typeof kind>>;

/** A ReconcileFunction as in a manifest file. */
export interface ReconcileFunctionManifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly spec: ReconcileFunctionSpec;
}

/** The part of a ReconcileFunction that the controller code does not define: its deployment. */
export type FunctionDeployment = Omit<
  z.input<(typeof ReconcileFunction)["spec"]>,
  "for" | "owns" | "watches" | "copies"
>;

/**
 * The manifest that registers a controller and deploys it.
 * @throws ZodError for an invalid deployment.
 */
export function reconcileFunctionOf<R extends Resource>(
  { name, for: resource, only, owns, watches, copies }: Controller<R>,
  deployment: FunctionDeployment = {},
): ReconcileFunctionManifest {
  const spec = ReconcileFunction.spec.parse({
    for: { ...kindOf(resource), ...only },
    ...(owns.length > 0 && { owns: owns.map(({ kind: of, ...which }) => ({ ...kindOf(of), ...which })) }),
    ...(watches.length > 0 && {
      watches: watches.map(({ kind: of, names, ...which }) => ({
        ...kindOf(of),
        ...which,
        names: typeof names === "function" ? { code: true } : names,
      })),
    }),
    ...(copies && { copies }),
    ...deployment,
  });
  return {
    apiVersion: ReconcileFunction.apiVersion,
    kind: ReconcileFunction.kind,
    metadata: { name },
    spec,
  };
}

const kindOf = ({ group, version, kind: name, plural, scope }: Kind) => ({
  group,
  version,
  kind: name,
  plural,
  scope,
});
