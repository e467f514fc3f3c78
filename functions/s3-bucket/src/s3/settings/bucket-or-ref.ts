import { checkedAtRun } from "@drover/controller";
import { reference } from "@drover/external";

/** The field beside that of a bucket's name or ARN. */
export const bucketRef = reference
  .optional()
  .describe("A Bucket object of this namespace in place of the bucket. It is waited for until it has one.");

type Fields = Readonly<Record<string, unknown>>;

/** For `refine`: exactly one of a bucket and a reference is given. The API server checks it, and so does a run. */
export const oneBucket = (field: "bucket" | "targetBucket") =>
  [
    (value: Fields) => (value[field] === undefined) !== (value[`${field}Ref`] === undefined),
    { error: messageOf(field), ...checkedAtRun },
  ] as const;

/** For `meta`: the same rule for the API server. */
export const oneBucketRule = (field: "bucket" | "targetBucket") => ({
  kubernetes: {
    cel: [{ rule: `has(self.${field}) != has(self.${field}Ref)`, message: messageOf(field) }],
  },
});

const messageOf = (field: string): string => `Give ${field} or ${field}Ref, one of the two`;
