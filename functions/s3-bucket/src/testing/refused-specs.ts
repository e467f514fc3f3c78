import type { z } from "zod";
import type { Bucket } from "../bucket.ts";

type Spec = z.input<typeof Bucket.spec>;

/** A spec that contradicts itself. */
export interface RefusedSpec {
  readonly name: string;
  readonly spec: Spec;
  /** The same without the contradiction. */
  readonly corrected: Spec;
  /** The field in the problem of a run. */
  readonly field: string;
  readonly problem: string;
  /** A part of the API server's message. Undefined: it accepts the spec, because a CRD has no such rule. */
  readonly atServer: string | undefined;
}

const arn = "arn:aws:s3:::b";
const events = ["s3:ObjectCreated:*" as const];
const queue = (id: string) => ({ id, queueArn: arn, events });
const topic = (id: string) => ({ id, topicArn: arn, events });
const lambda = (id: string) => ({ id, lambdaFunctionArn: arn, events });
const report = (id: string) => ({
  id,
  destination: { s3BucketDestination: { bucket: arn, format: "CSV" as const } },
  schedule: { frequency: "Daily" as const },
  includedObjectVersions: "All" as const,
});
const tiering = (id: string) => ({ id, tierings: [{ days: 90, accessTier: "ARCHIVE_ACCESS" as const }] });
const expiring = (id: string) => ({ id, expiration: { days: 1 } });
const copied = (id: string) => ({ id, destination: { bucket: arn } });

/** For each list with ids, a spec with these. */
const lists: readonly (readonly [field: string, specOf: (...ids: readonly string[]) => Spec])[] = [
  ["lifecycle.rules", (...ids) => ({ lifecycle: { rules: ids.map(expiring) } })],
  ["replication.rules", (...ids) => ({ replication: { role: arn, rules: ids.map(copied) } })],
  [
    "notification.lambdaFunctionConfigurations",
    (...ids) => ({ notification: { lambdaFunctionConfigurations: ids.map(lambda) } }),
  ],
  [
    "notification.queueConfigurations",
    (...ids) => ({ notification: { queueConfigurations: ids.map(queue) } }),
  ],
  [
    "notification.topicConfigurations",
    (...ids) => ({ notification: { topicConfigurations: ids.map(topic) } }),
  ],
  ["analytics", (...ids) => ({ analytics: ids.map((id) => ({ id })) })],
  ["intelligentTiering", (...ids) => ({ intelligentTiering: ids.map(tiering) })],
  ["inventory", (...ids) => ({ inventory: ids.map(report) })],
  ["metrics", (...ids) => ({ metrics: ids.map((id) => ({ id })) })],
];

const twice = 'Two items have the id "a"; remove one, or give it another id';
const inBoth = (name: string): string => `${name} is both in the filter and in its \`and\`; remove one`;
const tags = [{ key: "k", value: "v" }];

/** For each filter and condition, a spec with the condition in the filter and in its `and`, and one with it once. */
const filters: readonly (readonly [field: string, condition: string, specOf: (beside: boolean) => Spec])[] = [
  [
    "lifecycle.rules.0.filter",
    "prefix",
    (beside) => {
      const filter = { ...(beside && { prefix: "a" }), and: { prefix: "b", tags } };
      return { lifecycle: { rules: [{ ...expiring("a"), filter }] } };
    },
  ],
  [
    "lifecycle.rules.0.filter",
    "objectSizeLessThan",
    (beside) => {
      const filter = { ...(beside && { objectSizeLessThan: 1 }), and: { objectSizeLessThan: 2, tags } };
      return { lifecycle: { rules: [{ ...expiring("a"), filter }] } };
    },
  ],
  [
    "metrics.0.filter",
    "accessPointArn",
    (beside) => {
      const filter = { ...(beside && { accessPointArn: "a" }), and: { accessPointArn: "b", tags } };
      return { metrics: [{ id: "a", filter }] };
    },
  ],
  [
    "analytics.0.filter",
    "prefix",
    (beside) => ({
      analytics: [{ id: "a", filter: { ...(beside && { prefix: "a" }), and: { prefix: "b", tags } } }],
    }),
  ],
];

const objectLockConfiguration = { rule: { defaultRetention: { mode: "GOVERNANCE" as const, days: 1 } } };
const lockProblem =
  "objectLockConfiguration enables object lock, and objectLockEnabledForBucket is false; remove one of them";

export const refusedSpecs: readonly RefusedSpec[] = [
  ...lists.map(([field, specOf]) => ({
    name: `an id twice in ${field}`,
    spec: specOf("a", "b", "a"),
    corrected: specOf("a", "b"),
    field,
    problem: twice,
    atServer: 'Duplicate value: {"id":"a"}',
  })),
  {
    name: "an id in two lists of notification",
    spec: { notification: { queueConfigurations: [queue("a")], topicConfigurations: [topic("a")] } },
    corrected: { notification: { queueConfigurations: [queue("a")], topicConfigurations: [topic("b")] } },
    field: "notification",
    problem: twice,
    atServer: undefined,
  },
  ...filters.map(([field, condition, specOf]) => ({
    name: `${condition} twice in ${field}`,
    spec: specOf(true),
    corrected: specOf(false),
    field,
    problem: inBoth(condition),
    atServer: inBoth(condition),
  })),
  {
    name: "a lock of new objects in a bucket without object lock",
    spec: { objectLockEnabledForBucket: false, objectLockConfiguration },
    corrected: { objectLockConfiguration },
    field: "objectLockEnabledForBucket",
    problem: lockProblem,
    atServer: lockProblem,
  },
];
