import {
  field,
  isString,
  type Json,
  type JsonObject,
  listAt,
  objectAt,
  omit,
  textAt,
} from "../../packages/sandbox/src/json.ts";
import { annotationsOf, BucketDraft, nameOf, type Report, type Source } from "./bucket-draft.ts";

/** How the fields of a kind become a setting of Drover's `Bucket`. */
interface Kind {
  readonly setting: string;
  readonly names?: Readonly<Record<string, string>>;
  /** The object is an item of the setting, which is a list. */
  readonly isItem?: true;
  /** All fields are in this field of the setting. */
  readonly inside?: string;
  /** The only field that is the setting. */
  readonly only?: string;
}

/**
 * The kinds that have a setting each, with the names that differ by more than a plural. A field that a name is for can be
 * anywhere in the object.
 */
const kinds: Readonly<Record<string, Kind>> = {
  BucketAccelerateConfiguration: { setting: "accelerate" },
  BucketACL: { setting: "acl", names: { acl: "canned" } },
  BucketAnalyticsConfiguration: {
    setting: "analytics",
    isItem: true,
    names: { name: "id", bucketArn: "bucket" },
  },
  BucketCorsConfiguration: { setting: "cors" },
  BucketIntelligentTieringConfiguration: {
    setting: "intelligentTiering",
    isItem: true,
    names: { name: "id" },
  },
  BucketInventory: {
    setting: "inventory",
    isItem: true,
    names: { name: "id", enabled: "isEnabled", bucket: "s3BucketDestination", bucketArn: "bucket" },
  },
  BucketLifecycleConfiguration: { setting: "lifecycle" },
  BucketLogging: { setting: "logging", inside: "loggingEnabled" },
  BucketMetric: { setting: "metrics", isItem: true, names: { name: "id", accessPoint: "accessPointArn" } },
  BucketNotification: {
    setting: "notification",
    names: {
      lambdaFunction: "lambdaFunctionConfigurations",
      queue: "queueConfigurations",
      topic: "topicConfigurations",
    },
  },
  BucketObjectLockConfiguration: { setting: "objectLockConfiguration" },
  BucketOwnershipControls: { setting: "ownershipControls" },
  BucketPolicy: { setting: "policy", only: "policy" },
  BucketPublicAccessBlock: { setting: "publicAccessBlock" },
  BucketReplicationConfiguration: { setting: "replication" },
  BucketRequestPaymentConfiguration: { setting: "requestPayment" },
  BucketServerSideEncryptionConfiguration: { setting: "encryption" },
  BucketVersioning: { setting: "versioning", only: "versioningConfiguration" },
  BucketWebsiteConfiguration: { setting: "website" },
};

/** The fields that refer to another bucket, and what of the bucket they have. */
const bucketFields: Readonly<Record<string, "name" | "arn">> = {
  bucket: "arn",
  bucketArn: "arn",
  targetBucket: "name",
};

const isPart = (peer: JsonObject): boolean => peer["kind"] !== "Bucket";
const bucketNameOf = (bucket: JsonObject): string =>
  textAt(bucket, "metadata", "annotations", "crossplane.io/external-name") ??
  textAt(bucket, "metadata", "name") ??
  "";
const namespaceOf = (peer: JsonObject) => textAt(peer, "metadata", "namespace");
const forProvider = (peer: JsonObject): JsonObject => objectAt(peer, "spec", "forProvider");

/**
 * Translates the objects of Crossplane's provider (s3.aws.upbound.io and s3.aws.m.upbound.io): each `Bucket` with the
 * objects that refer to it.
 */
export function translateCrossplane(peers: readonly JsonObject[], report: Report): JsonObject[] {
  const buckets = peers.filter((peer) => !isPart(peer));
  const drafts = new Map(buckets.map((bucket) => [bucket, draftOf(bucket, report)]));
  for (const peer of peers.filter(isPart)) addPart(peer, drafts, report);
  return [...drafts.values()].map((draft) => draft.manifest()).filter((manifest) => manifest !== undefined);
}

function draftOf(bucket: JsonObject, report: Report): BucketDraft {
  const object = nameOf(bucket);
  const { others, unknown } = annotationsOf(bucket, /^([\w.-]+\.)?crossplane\.io\//, (key) =>
    key.startsWith("crossplane.io/external-"),
  );
  const draft = new BucketDraft(bucket, others, report);
  draft.set("bucketName", bucketNameOf(bucket), { object, path: "metadata.name" });
  for (const key of unknown) draft.warn(object, `metadata.annotations.${key}`, "has no counterpart");
  for (const [name, value] of Object.entries(forProvider(bucket))) {
    const source = { object, path: `spec.forProvider.${name}` };
    const mine = bucketFieldNames[name];
    if (mine !== undefined) draft.set(mine, value, source);
    else if (name !== "bucketNamespace" || value !== "global") {
      draft.warn(object, source.path, "Drover's Bucket has no such field. The field is left out");
    }
  }
  takeManagement(draft, bucket, object);
  return draft;
}

const bucketFieldNames: Readonly<Record<string, string>> = {
  region: "region",
  tags: "tags",
  objectLockEnabled: "objectLockEnabledForBucket",
  forceDestroy: "emptyOnDelete",
};

/** The fields that every managed resource has, for a Bucket. */
function takeManagement(draft: BucketDraft, bucket: JsonObject, object: string): void {
  const policies = listAt(bucket, "spec", "managementPolicies");
  const source = { object, path: "spec.managementPolicies" };
  const isObserved = policies.length > 0 && policies.every((each) => each === "Observe");
  if (isObserved) draft.set("manage", "ObserveOnly", source);
  const isAll = policies.length === 0 || policies.includes("*");
  const deletion = textAt(bucket, "spec", "deletionPolicy");
  // Neither of the two defaults deletes a bucket whose manifest does not ask for it.
  const deletes = isAll ? deletion === "Delete" : deletion !== "Orphan" && policies.includes("Delete");
  if (deletes) draft.set("onDelete", "Delete", { object, path: "spec.deletionPolicy" });
  if (!isAll && !isObserved && !(policies.includes("Create") && policies.includes("Update"))) {
    draft.warn(
      object,
      source.path,
      "Drover creates and changes the bucket, or (manage: ObserveOnly) only looks at it",
    );
  }
  warnOfManagement(draft, bucket, object);
}

/** The fields of every managed resource that have no counterpart. */
function warnOfManagement(draft: BucketDraft, peer: JsonObject, object: string): void {
  const known = ["forProvider", "managementPolicies", "deletionPolicy", "providerConfigRef"];
  for (const [name, value] of Object.entries(omit(objectAt(peer, "spec"), ...known))) {
    const isEmpty = JSON.stringify(value) === "{}";
    const reason = reasons[name] ?? "Drover's Bucket has no such field";
    if (!isEmpty) draft.warn(object, `spec.${name}`, `${reason}. The field is left out`);
  }
  const config = textAt(peer, "spec", "providerConfigRef", "name") ?? "default";
  const secret =
    "is left out: if the function's own credentials are others, name a Secret in spec.credentialsSecret";
  if (config !== "default") draft.warn(object, "spec.providerConfigRef", secret);
}

const reasons: Readonly<Record<string, string>> = {
  initProvider: "Drover keeps every field as it is in the spec. Move what is to be kept to forProvider",
  writeConnectionSecretToRef: "spec.outputs writes a Secret with other keys",
};

/** Adds the setting of an object to the draft of the bucket that it refers to. */
function addPart(peer: JsonObject, drafts: ReadonlyMap<JsonObject, BucketDraft>, report: Report): void {
  const object = nameOf(peer);
  const buckets = [...drafts.keys()];
  const kind = kinds[textAt(peer, "kind") ?? ""];
  const bucket = kind === undefined ? noSuchSetting : bucketOf(peer, buckets);
  if (isString(bucket)) report({ level: "error", at: object, message: `${bucket} The object is left out.` });
  const draft = isString(bucket) ? undefined : drafts.get(bucket);
  if (kind === undefined || isString(bucket) || draft === undefined) return;
  const policies = listAt(peer, "spec", "managementPolicies");
  if (policies.length > 0 && policies.every((each) => each === "Observe")) {
    draft.warn(object, "spec.managementPolicies", `only looks. So ${kind.setting} is left out`);
    return;
  }
  warnOfManagement(draft, peer, object);
  if (textAt(peer, "spec", "deletionPolicy") === "Orphan") {
    const reason = `Drover removes ${kind.setting} when the field is removed. The field is left out`;
    draft.warn(object, "spec.deletionPolicy", reason);
  }
  takeShared(draft, object, { fields: forProvider(peer), bucket });
  const refer: Source["refer"] = (name, reference) => {
    const what = bucketFields[name];
    const [other, another] = what === undefined ? [] : bucketsFor(peer, reference, buckets);
    if (other === undefined || another !== undefined) return undefined;
    return what === "arn" ? `arn:aws:s3:::${bucketNameOf(other)}` : bucketNameOf(other);
  };
  addSetting(draft, kind, {
    own: omit(forProvider(peer), "bucket", "bucketRef", "bucketSelector", "region", "expectedBucketOwner"),
    source: { object, path: "spec.forProvider", refer, ...(kind.names && { names: kind.names }) },
  });
}

const noSuchSetting = "Drover's Bucket has no such setting.";

/** The Bucket that an object is for, or the reason why there is none. A name counts first, as for Crossplane. */
function bucketOf(peer: JsonObject, buckets: readonly JsonObject[]): JsonObject | string {
  const { bucket, bucketRef, bucketSelector } = forProvider(peer);
  const found = isString(bucket)
    ? buckets.filter((each) => bucketNameOf(each) === bucket)
    : bucketsFor(peer, bucketRef ?? bucketSelector ?? null, buckets);
  const names = found.map(nameOf).join(", ");
  if (found.length > 1) return `Its selector is for several Buckets (${names}): name one in bucketRef.`;
  return found[0] ?? "Its Bucket is not in the files: translate them together.";
}

interface Part {
  readonly own: JsonObject;
  readonly source: Source;
}

function addSetting(draft: BucketDraft, kind: Kind, { own, source }: Part): void {
  const { setting, isItem, inside, only } = kind;
  if (isItem === true) draft.item(setting, own, source);
  else if (only === undefined) draft.setting(setting, inside === undefined ? own : { [inside]: own }, source);
  else {
    const others = Object.keys(omit(own, only)).map((name) => `${source.path}.${name}`);
    const reason = "Drover's Bucket has no such field. The field is left out";
    for (const path of others) draft.warn(source.object, path, reason);
    draft.setting(setting, own[only] ?? null, { ...source, path: `${source.path}.${only}` });
  }
}

/** The fields that every object of a bucket has. */
function takeShared(
  draft: BucketDraft,
  object: string,
  { fields, bucket }: { readonly fields: JsonObject; readonly bucket: JsonObject },
): void {
  const { region, expectedBucketOwner } = fields;
  if (region !== undefined && region !== forProvider(bucket)["region"]) {
    draft.warn(object, "spec.forProvider.region", "is left out: the Bucket is in another region");
  }
  if (isString(expectedBucketOwner)) {
    draft.set("accountId", expectedBucketOwner, { object, path: "spec.forProvider.expectedBucketOwner" });
  }
}

/** The Buckets that a reference or a selector of an object is for. */
function bucketsFor(peer: JsonObject, reference: Json, buckets: readonly JsonObject[]): JsonObject[] {
  const name = textAt(reference, "name");
  const namespace = textAt(reference, "namespace") ?? namespaceOf(peer);
  const near = buckets.filter((bucket) => namespaceOf(bucket) === namespace);
  if (name !== undefined) return near.filter((bucket) => textAt(bucket, "metadata", "name") === name);
  const labels = Object.entries(objectAt(reference, "matchLabels"));
  const isSibling = field(reference, "matchControllerRef") === true;
  if (labels.length === 0 && !isSibling) return [];
  return near.filter(
    (bucket) =>
      labels.every(([key, label]) => textAt(bucket, "metadata", "labels", key) === label) &&
      (!isSibling || controllerOf(bucket) === controllerOf(peer)),
  );
}

const controllerOf = (peer: JsonObject): string | undefined =>
  listAt(peer, "metadata", "ownerReferences")
    .filter((owner) => field(owner, "controller") === true)
    .map((owner) => textAt(owner, "uid"))[0];
