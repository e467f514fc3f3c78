import { z } from "zod";
import { durationSchema } from "../duration.ts";
import { checkedAtRun } from "../structural/checks.ts";

/** Schemas of the container that a ReconcileFunction is deployed as. Fields are named and shaped as in a Pod. */
const name = z.string().regex(/^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/, "give a DNS subdomain");
const variable = z
  .string()
  .max(253)
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "a variable's name has letters, digits and _");
const keySelector = z.strictObject({
  name,
  key: z.string().min(1).max(253),
  optional: z.boolean().optional(),
});

const environment = z
  .array(
    z.strictObject({
      name: variable,
      value: z.string().optional(),
      valueFrom: z
        .strictObject({
          secretKeyRef: keySelector.optional(),
          configMapKeyRef: keySelector.optional(),
          fieldRef: z.strictObject({ fieldPath: z.string().min(1) }).optional(),
        })
        .optional(),
    }),
  )
  .max(100);

/** A Kubernetes quantity, such as 500m or 128Mi. */
const quantities = z.record(z.string(), z.union([z.int(), z.string()]));

const volumeDeclaration = z.strictObject({
  name: z.string().regex(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/, "give a DNS label"),
  mountPath: z.string().regex(/^\/[^:]*$/, "give an absolute path"),
  secret: z.strictObject({ secretName: name }).optional(),
  configMap: z.strictObject({ name }).optional(),
  emptyDir: z.strictObject({ sizeLimit: z.string().optional() }).optional(),
});

const toleration = z.strictObject({
  key: z.string().optional(),
  operator: z.enum(["Exists", "Equal"]).optional(),
  value: z.string().optional(),
  effect: z.enum(["NoSchedule", "PreferNoSchedule", "NoExecute"]).optional(),
  tolerationSeconds: z.int().min(0).optional(),
});

const texts = z.record(z.string(), z.string());
const list = z.array(z.string()).max(100);
const selector = z.strictObject({
  matchLabels: texts.optional(),
  matchExpressions: z
    .array(
      z.strictObject({
        key: z.string(),
        operator: z.enum(["In", "NotIn", "Exists", "DoesNotExist"]),
        values: list.optional(),
      }),
    )
    .max(20)
    .optional(),
});
const weight = z.int().min(1).max(100);
const nodeRequirements = z
  .array(
    z.strictObject({
      key: z.string(),
      operator: z.enum(["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"]),
      values: list.optional(),
    }),
  )
  .max(20)
  .optional();
const nodeTerm = z.strictObject({ matchExpressions: nodeRequirements, matchFields: nodeRequirements });
const podTerm = z.strictObject({
  topologyKey: z.string().min(1),
  labelSelector: selector.optional(),
  namespaces: list.optional(),
  namespaceSelector: selector.optional(),
  matchLabelKeys: list.optional(),
  mismatchLabelKeys: list.optional(),
});
const podAffinity = z.strictObject({
  requiredDuringSchedulingIgnoredDuringExecution: z.array(podTerm).max(20).optional(),
  preferredDuringSchedulingIgnoredDuringExecution: z
    .array(z.strictObject({ weight, podAffinityTerm: podTerm }))
    .max(20)
    .optional(),
});
const affinity = z.strictObject({
  nodeAffinity: z
    .strictObject({
      requiredDuringSchedulingIgnoredDuringExecution: z
        .strictObject({ nodeSelectorTerms: z.array(nodeTerm).min(1).max(20) })
        .optional(),
      preferredDuringSchedulingIgnoredDuringExecution: z
        .array(z.strictObject({ weight, preference: nodeTerm }))
        .max(20)
        .optional(),
    })
    .optional(),
  podAffinity: podAffinity.optional(),
  podAntiAffinity: podAffinity.optional(),
});

const policy = z.enum(["Honor", "Ignore"]).optional();
const spreadConstraint = z.strictObject({
  maxSkew: z.int().min(1),
  topologyKey: z.string().min(1),
  whenUnsatisfiable: z.enum(["DoNotSchedule", "ScheduleAnyway"]),
  labelSelector: selector.optional().meta({ description: "Default: the Pods of the function." }),
  minDomains: z.int().min(1).optional(),
  nodeAffinityPolicy: policy,
  nodeTaintsPolicy: policy,
  matchLabelKeys: list.optional(),
});

const droversOwn = "leave out names of drover.dev, which Drover sets";
/** Labels or annotations that an author adds. */
const added = texts
  .refine((all) => !Object.keys(all).some((key) => /(^|\.)drover\.dev\//.test(key)), {
    error: droversOwn,
    ...checkedAtRun,
  })
  .meta({
    kubernetes: {
      maxProperties: 50,
      cel: [{ rule: "self.all(key, !key.matches('(^|[.])drover[.]dev/'))", message: droversOwn }],
    },
  });

/** The container of a ReconcileFunction. */
export type ContainerDeclaration = z.output<typeof containerDeclaration>;
export const containerDeclaration = z
  .strictObject({
    image: z.string().min(1).max(1_000),
    imagePullPolicy: z.enum(["Always", "IfNotPresent", "Never"]).optional(),
    imagePullSecrets: z.array(z.strictObject({ name })).max(10).optional(),
    command: z.array(z.string()).max(100).optional(),
    args: z.array(z.string()).max(100).optional(),
    env: environment.optional(),
    resources: z
      .strictObject({ requests: quantities.optional(), limits: quantities.optional() })
      .optional()
      .meta({
        description:
          "Default: requests of 50m of CPU and 96Mi of memory, limits of 512Mi of memory and 1Gi of disk. A value given here " +
          "replaces all of them.",
      }),
    volumes: z.array(volumeDeclaration).max(20).optional().meta({
      description: "Secrets, ConfigMaps and empty folders, and the paths at which they are mounted.",
    }),
    nodeSelector: z.record(z.string(), z.string()).optional(),
    tolerations: z.array(toleration).max(20).optional(),
    affinity: affinity.optional(),
    topologySpreadConstraints: z.array(spreadConstraint).max(10).optional(),
    priorityClassName: name.optional(),
    labels: added.optional().meta({ description: "Labels of its Pods." }),
    annotations: added.optional().meta({ description: "Annotations of its Pods." }),
    serviceAccount: z
      .strictObject({
        annotations: added.meta({
          description:
            "Annotations of its ServiceAccount, such as those that give it an identity in a cloud.",
        }),
      })
      .optional(),
    port: z.int().min(1).max(65_535).optional().meta({
      description: "The port of health, metrics and, with delivery: webhook, calls. Default 8080.",
    }),
  })
  .meta({ description: "The container of the function. Left out: Drover runs no Pods for it." });

const rule = z.strictObject({
  apiGroups: z.array(z.string()).min(1).max(20),
  resources: z.array(z.string().min(1)).min(1).max(50),
  verbs: z.array(z.string().min(1)).min(1).max(20),
  resourceNames: z.array(z.string().min(1)).min(1).max(50).optional().meta({
    description: "Left out: all names. An empty list is refused, because it would also mean all names.",
  }),
});
export type PermissionRule = z.output<typeof rule>;

export const permissionsDeclaration = z
  .strictObject({
    namespace: z.array(rule).max(50).optional().meta({ description: "In its own namespace: a Role." }),
    cluster: z.array(rule).max(50).optional().meta({ description: "In all namespaces: a ClusterRole." }),
  })
  .meta({
    description: "The permissions of its ServiceAccount. The function's author must have all of them, too.",
  });

export const scalingDeclaration = z
  .strictObject({
    min: z.int().min(0).max(1_000).default(0),
    max: z.int().min(1).max(1_000).default(10),
    targetDue: z.int().min(1).max(1_000_000).optional().meta({
      description:
        "Number of due and running keys for one Pod. Left out: as many as it runs in 5 s, by the latest runs.",
    }),
    idleAfter: durationSchema.default("60s").meta({
      description: "Pods are removed only after fewer of them were enough for this time.",
    }),
    by: z.enum(["Drover", "KEDA"]).default("Drover").meta({
      description:
        "KEDA: Drover creates a ScaledObject, which reads the same figure from Drover and writes `replicas`.",
    }),
    replicas: z
      .int()
      .min(0)
      .max(1_000)
      .optional()
      .meta({
        description: "With by: KEDA, the wanted number of Pods; written through the scale subresource.",
        // The API server answers requests for the scale with an error as long as there is no such field.
        kubernetes: { default: 0 },
      }),
  })
  .meta({
    description: "The number of Pods.",
    kubernetes: { cel: [{ rule: "self.min <= self.max", message: "min must not be above max" }] },
  });
export type Scaling = z.output<typeof scalingDeclaration>;
/** Default scaling of a function. */
export const defaultScaling: Scaling = scalingDeclaration.parse({});

const hookPath = z
  .string()
  .regex(/^\/[^?#]*$/, "give a path such as /sync")
  .max(500);

const metacontrollerDeclaration = z
  .strictObject({
    controller: z.enum(["Composite", "Decorator"]).meta({
      description: "The kind of controller that the hooks were written for.",
    }),
    sync: hookPath.meta({ description: "The path of the sync hook." }),
    finalize: hookPath.optional().meta({ description: "The path of the finalize hook." }),
    customize: hookPath.optional().meta({
      description:
        "The path of the customize hook. It names objects of the kinds in watches with names.code.",
    }),
    version: z.enum(["v1", "v2"]).optional().meta({ description: "The version of the hooks. Default v1." }),
    updates: z
      .array(
        z.strictObject({
          group: z.string().max(253).default(""),
          kind: z.string().min(1).max(63),
          method: z.enum(["OnDelete", "Recreate", "InPlace", "RollingRecreate"]),
        }),
      )
      .max(50)
      .optional()
      .meta({ description: "The update method of each kind of children. Default OnDelete." }),
    takeOver: z
      .boolean()
      .optional()
      .meta({
        description:
          "True while children that Metacontroller has made are taken over. Each run then also lists the objects of these " +
          "kinds that are not Drover's.",
      }),
  })
  .meta({
    description:
      "Its hooks are those of a CompositeController or DecoratorController of Metacontroller. Neither calls nor answers are " +
      "signed.",
  });

export const webhookDeclaration = z
  .strictObject({
    service: z
      .strictObject({ name: z.string().min(1).max(63), port: z.int().min(1).max(65_535).default(80) })
      .optional()
      .meta({ description: "A Service in this namespace. Default: that of `container`." }),
    url: z
      .string()
      .regex(/^https?:\/\/[^\s/?#]+/, "give an http or https URL")
      .max(2_000)
      .optional()
      .meta({
        description: "An address outside the cluster. The gateway's operator must allow it.",
      }),
    path: z
      .string()
      .regex(/^\/[^?#]*$/, "give a path such as /")
      .max(500)
      .default("/"),
    finalizes: z.boolean().default(false).meta({
      description:
        "True if it is called for objects that are being deleted, too: they stay until it answers finalized.",
    }),
    composes: z
      .boolean()
      .optional()
      .meta({
        description:
          "True if it answers with the children that should exist for an object, of the kinds in owns. The gateway creates, " +
          "changes and deletes them as the function's ServiceAccount.",
      }),
    metacontroller: metacontrollerDeclaration.optional(),
  })
  .meta({ description: "With delivery: webhook, the address at which the function is called." });

/** Rates, durations and retries of a function's runs. An omitted field keeps the value in the code. */
export const runSettingsDeclaration = {
  resyncEvery: durationSchema.optional().meta({
    description: "Every object is reconciled again at least this often.",
  }),
  concurrency: z.int().min(1).max(10_000).optional().meta({ description: "Concurrent runs in one Pod." }),
  timeout: durationSchema.optional().meta({ description: "The maximum duration of a run." }),
  retry: z
    .strictObject({
      first: durationSchema.optional(),
      longest: durationSchema.optional(),
      attempts: z.int().min(1).max(1_000_000).optional(),
    })
    .optional()
    .meta({
      description: "Backoff of failed runs doubles from first to longest; after attempts the key is parked.",
    }),
  limits: z
    .strictObject({
      runs: z
        .strictObject({
          perSecond: z.number().min(0.001).max(1_000_000),
          burst: z.int().min(1).max(1_000_000),
        })
        .optional(),
    })
    .optional()
    .meta({ description: "The rate at which runs may start, all Pods together." }),
};
