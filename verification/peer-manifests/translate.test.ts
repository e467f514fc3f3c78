import { describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { translate } from "./translate.ts";

/* Parts of manifests that have no counterpart, and those that mean something else without a change. */
const ackBucket = (spec: object, annotations: object = {}) => ({
  apiVersion: "s3.services.k8s.aws/v1alpha1",
  kind: "Bucket",
  metadata: { name: "photos", namespace: "media", annotations },
  spec: { name: "media-photos", ...spec },
});
const part = (kind: string, fields: object, more: object = {}) => ({
  apiVersion: "s3.aws.m.upbound.io/v1beta1",
  kind,
  metadata: { name: "photos", namespace: "media", labels: { app: "photos" } },
  spec: { forProvider: { region: "eu-west-1", ...fields }, ...more },
});
const ofPhotos = (kind: string, fields: object, more: object = {}) =>
  part(kind, { bucketRef: { name: "photos" }, ...fields }, more);

const translated = (...objects: object[]) => {
  const { manifests, problems } = translate(objects.map((object) => stringify(object)).join("---\n"));
  return {
    manifests,
    spec: manifests[0]?.["spec"],
    problems: problems.map(({ level, at, message }) => `${level}: ${at}: ${message}`),
  };
};
/** The spec's settings, and the problems, of a Bucket with one more object. */
const ofPart = (kind: string, fields: object, more: object = {}) =>
  translated(part("Bucket", {}), ofPhotos(kind, fields, more));
const common = { adopt: "IfUnowned", bucketName: "photos", region: "eu-west-1" };

describe("a manifest of ACK", () => {
  test("keeps its name, labels and other annotations, and adopts the bucket that ACK has made", () => {
    const peer = ackBucket({}, { "services.k8s.aws/region": "eu-west-1", team: "a" });
    const { manifests, problems } = translated({ ...peer, status: { conditions: [] } });
    expect(manifests).toEqual([
      {
        apiVersion: "s3.drover.dev/v1alpha1",
        kind: "Bucket",
        metadata: { name: "photos", namespace: "media", annotations: { team: "a" } },
        spec: { adopt: "IfUnowned", region: "eu-west-1", bucketName: "media-photos" },
      },
    ]);
    expect(problems).toEqual([]);
  });

  test.each([
    ["services.k8s.aws/deletion-policy", "delete", { onDelete: "Delete" }],
    ["services.k8s.aws/deletion-policy", "retain", { onDelete: "Retain" }],
    ["services.k8s.aws/read-only", "true", { manage: "ObserveOnly" }],
    ["services.k8s.aws/owner-account-id", "123456789012", { accountId: "123456789012" }],
  ])("has its annotation %s: %s as fields", (annotation, value, fields) => {
    const { spec, problems } = translated(ackBucket({}, { [annotation]: value }));
    expect(spec).toMatchObject(fields);
    expect(problems).toEqual([]);
  });

  test.each([
    ["abac", { abac: { status: "Enabled" } }, "spec.abac: Drover does not set"],
    ["namespace", { namespace: "account-regional" }, "spec.namespace: Drover creates buckets in the global"],
    [
      "a tag at creation",
      { createBucketConfiguration: { tags: [] } },
      "createBucketConfiguration.tags: Drover's",
    ],
    ["a field of a later version", { future: 1 }, "spec.future: Drover's Bucket has no such field"],
    ["a canned ACL", { acl: "aws-exec-read" }, "spec.acl: acl.canned: Invalid option"],
    ["an empty policy", { policy: "" }, "spec.policy: is empty"],
    [
      "a role by reference",
      { replication: { roleRef: { from: { name: "r" } }, rules: [] } },
      "spec.replication.roleRef: refers to another object. Write its value into role. So replication is left out",
    ],
    ["a grant by address", { grantRead: 'emailAddress="a@example.com"' }, "So acl is left out"],
    [
      "a lifecycle rule with an unknown condition",
      {
        lifecycle: {
          rules: [{ id: "a", status: "Enabled", filter: { age: 1, prefix: "a" }, expiration: { days: 1 } }],
        },
      },
      "spec.lifecycle.rules[0].filter.age: Drover's Bucket has no such field. So lifecycle is left out",
    ],
    [
      "a time that is no midnight",
      {
        lifecycle: {
          rules: [{ id: "a", status: "Enabled", expiration: { date: "2030-01-01T12:00:00Z" } }],
        },
      },
      "spec.lifecycle.rules[0].expiration.date: is not midnight UTC",
    ],
  ])("leaves %s out with a warning", (_, spec, warning) => {
    const result = translated(ackBucket(spec));
    expect(result.spec).toEqual({ adopt: "IfUnowned", bucketName: "media-photos" });
    expect(result.problems).toHaveLength(1);
    expect(result.problems[0]).toContain("warning: Bucket media/photos, ");
    expect(result.problems[0]).toContain(warning);
  });

  test("gives ids to rules without them, and a filter to those with a prefix", () => {
    const rule = { prefix: "logs/", status: "Enabled", expiration: { days: 1 } };
    const { spec, problems } = translated(ackBucket({ lifecycle: { rules: [rule] } }));
    expect(spec).toMatchObject({
      lifecycle: {
        rules: [{ id: "rules-1", filter: { prefix: "logs/" }, status: "Enabled", expiration: { days: 1 } }],
      },
    });
    expect(problems).toEqual([
      expect.stringContaining("spec.lifecycle.rules[0]: has no id, and gets rules-1"),
    ]);
  });

  test("copies delete markers if a replication rule is of the API's first version", () => {
    const rule = { id: "a", prefix: "a/", status: "Enabled", destination: { bucket: "arn:aws:s3:::b" } };
    const { spec, problems } = translated(ackBucket({ replication: { role: "arn", rules: [rule] } }));
    expect(spec).toMatchObject({
      replication: {
        rules: [{ filter: { prefix: "a/" }, priority: 0, deleteMarkerReplication: { status: "Enabled" } }],
      },
    });
    expect(problems).toEqual([expect.stringContaining("delete markers are copied, too")]);
  });

  test.each([
    ["of a directory bucket", { createBucketConfiguration: { location: { name: "usw2-az1" } } }],
    ["without a name", { name: null }],
    ["with a name that S3 does not take", { name: "Photos" }],
  ])("%s is an error", (_, spec) => {
    const { manifests, problems } = translated(ackBucket(spec));
    expect(manifests).toEqual([]);
    expect(problems).toEqual([expect.stringMatching(/^error: Bucket media\/photos, .*no manifest/)]);
  });
});

describe("manifests of Crossplane", () => {
  test("are one manifest for each Bucket, with the objects that refer to it", () => {
    const other = { ...part("Bucket", {}), metadata: { name: "other", namespace: "media" } };
    const { manifests, problems } = translated(
      ofPhotos("BucketVersioning", { versioningConfiguration: { status: "Enabled" } }),
      part("Bucket", { tags: { a: "b" }, objectLockEnabled: true, forceDestroy: true }),
      part("BucketAccelerateConfiguration", {
        bucketSelector: { matchLabels: { app: "photos" } },
        status: "Enabled",
      }),
      other,
      part("BucketRequestPaymentConfiguration", { bucket: "other", payer: "Requester" }),
    );
    expect(problems).toEqual([]);
    expect(manifests.map(({ spec }) => spec)).toEqual([
      {
        ...common,
        tags: { a: "b" },
        objectLockEnabledForBucket: true,
        emptyOnDelete: true,
        versioning: "Enabled",
        accelerate: { status: "Enabled" },
      },
      { ...common, bucketName: "other", requestPayment: { payer: "Requester" } },
    ]);
  });

  test.each([
    ["deletionPolicy", "Delete", { onDelete: "Delete" }],
    ["managementPolicies", ["Observe"], { manage: "ObserveOnly" }],
    ["managementPolicies", ["*"], {}],
    ["managementPolicies", ["Observe", "Create", "Update", "Delete"], { onDelete: "Delete" }],
    ["managementPolicies", ["Observe", "Create", "Update", "LateInitialize"], {}],
  ])("have %s %j as fields", (name, value, fields) => {
    const { spec, problems } = translated(part("Bucket", {}, { [name]: value }));
    expect(spec).toEqual({ ...common, ...fields });
    expect(problems).toEqual([]);
  });

  test("have a value in place of a reference that Crossplane has followed", () => {
    const rule = {
      applyServerSideEncryptionByDefault: {
        sseAlgorithm: "aws:kms",
        kmsMasterKeyId: "arn:aws:kms:eu-west-1:123456789012:key/1",
        kmsMasterKeyIdSelector: { matchLabels: { app: "photos" } },
      },
    };
    const { spec, problems } = ofPart("BucketServerSideEncryptionConfiguration", {
      rule: [{ ...rule, blockedEncryptionTypes: ["SSE-C"] }],
    });
    expect(spec).toMatchObject({
      encryption: {
        rules: [
          {
            applyServerSideEncryptionByDefault: {
              kmsMasterKeyId: "arn:aws:kms:eu-west-1:123456789012:key/1",
            },
            blockedEncryptionTypes: { encryptionType: ["SSE-C"] },
          },
        ],
      },
    });
    expect(problems).toEqual([]);
  });

  test("have routing rules as JSON", () => {
    const routingRules = '[{"Condition": {"KeyPrefixEquals": "a/"}, "Redirect": {"ReplaceKeyWith": "b"}}]';
    const { spec, problems } = ofPart("BucketWebsiteConfiguration", { routingRules });
    const rule = { condition: { keyPrefixEquals: "a/" }, redirect: { replaceKeyWith: "b" } };
    expect(spec).toEqual({ ...common, website: { routingRules: [rule] } });
    expect(problems).toEqual([]);
  });

  test.each([
    ["BucketVersioning", { versioningConfiguration: { status: "Enabled" }, mfa: "1 2" }, "mfa"],
    [
      "BucketVersioning",
      { versioningConfiguration: { status: "Enabled", mfaDelete: "Enabled" } },
      "mfaDelete",
    ],
    ["BucketVersioning", { versioningConfiguration: { status: "Disabled" } }, "status"],
    ["BucketNotification", { topic: [{ id: "a", events: [], topicArnRef: { name: "t" } }] }, "topicArnRef"],
    ["BucketLogging", { targetBucketRef: { name: "elsewhere" } }, "targetBucketRef"],
    ["BucketPolicy", { policy: "not JSON" }, "policy"],
    ["BucketWebsiteConfiguration", { routingRules: "not JSON" }, "routingRules: is not JSON"],
    [
      "BucketObjectLockConfiguration",
      { rule: {}, tokenSecretRef: {} },
      "tokenSecretRef: Drover's Bucket has no",
    ],
    ["BucketCorsConfiguration", { corsRule: [], corsRules: [] }, "corsRules: is a second value"],
    ["BucketACL", { acl: "private", provider: "x" }, "provider"],
  ])("%s %j: a warning names the field %s", (kind, fields, name) => {
    const { problems } = ofPart(kind, fields);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(`warning: ${kind} media/photos, spec.forProvider.`);
    expect(problems[0]).toContain(name);
  });

  test("with fields of every managed resource that have no counterpart: a warning for each", () => {
    const { problems } = translated(
      part(
        "Bucket",
        {},
        {
          initProvider: { tags: { a: "b" } },
          providerConfigRef: { name: "other" },
          writeConnectionSecretToRef: { name: "s" },
        },
      ),
    );
    expect(problems.map((problem) => /spec\.\w+/.exec(problem)?.[0])).toEqual([
      "spec.initProvider",
      "spec.writeConnectionSecretToRef",
      "spec.providerConfigRef",
    ]);
  });

  test.each([
    [
      "of a kind without a counterpart",
      [part("Bucket", {}), ofPhotos("BucketAbac", {})],
      "Drover's Bucket has no such setting",
    ],
    ["without their Bucket", [ofPhotos("BucketPolicy", { policy: "{}" })], "Its Bucket is not in the files"],
    [
      "whose selector is for two Buckets",
      [
        part("Bucket", {}),
        { ...part("Bucket", {}), metadata: { name: "other", namespace: "media", labels: { app: "photos" } } },
        part("BucketACL", { acl: "private", bucketSelector: { matchLabels: { app: "photos" } } }),
      ],
      "name one in bucketRef",
    ],
    ["of another API", [{ ...part("Topic", {}), apiVersion: "sns.aws.upbound.io/v1beta1" }], "Only buckets"],
  ])("%s are an error", (_, objects, message) => {
    const errors = translated(...objects).problems.filter((problem) => problem.startsWith("error"));
    expect(errors).toEqual([expect.stringContaining(message)]);
  });

  test("two objects for one setting: the second is left out with a warning", () => {
    const { spec, problems } = translated(
      part("Bucket", {}),
      ofPhotos("BucketACL", { acl: "private" }),
      ofPhotos("BucketACL", { acl: "public-read" }),
    );
    expect(spec).toEqual({ ...common, acl: { canned: "private" } });
    expect(problems).toEqual([expect.stringContaining("has set acl already")]);
  });
});
