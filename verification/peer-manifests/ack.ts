import {
  isArray,
  type Json,
  type JsonObject,
  listAt,
  objectAt,
  omit,
  parseJson,
  textAt,
} from "../../packages/sandbox/src/json.ts";
import {
  annotationsOf,
  BucketDraft,
  nameOf,
  type Report,
  type Source,
  settingNames,
} from "./bucket-draft.ts";

/** The fields of ACK's `Bucket` that are not Drover's settings of the same name. */
type Take = (draft: BucketDraft, value: Json, source: Source) => void;
const fields: Readonly<Record<string, Take>> = {
  name: (draft, value, source) => draft.set("bucketName", value, source),
  tagging(draft, value, source) {
    const pairs = listAt(value, "tagSet").map((tag) => [
      textAt(tag, "key") ?? "",
      textAt(tag, "value") ?? "",
    ]);
    draft.set("tags", Object.fromEntries(pairs) as JsonObject, source);
    warnOfOthers(draft, omit(objectAt({ value }, "value"), "tagSet"), source);
  },
  createBucketConfiguration(draft, value, source) {
    const region = textAt(value, "locationConstraint");
    if (region !== undefined) draft.set("region", region, source);
    warnOfOthers(draft, omit(objectAt({ value }, "value"), "locationConstraint"), source);
  },
  objectOwnership: (draft, value, source) =>
    draft.setting("ownershipControls", { rules: [{ objectOwnership: value }] }, source),
  acl: (draft, value, source) => draft.setting("acl", { canned: value }, source),
};

function warnOfOthers(draft: BucketDraft, others: JsonObject, { object, path }: Source): void {
  for (const name of Object.keys(others)) {
    draft.warn(object, `${path}.${name}`, "Drover's Bucket has no such field. The field is left out");
  }
}

/** The parameters of PutBucketAcl that together are a list of grants. */
const grantFields: Readonly<Record<string, string>> = {
  grantFullControl: "FULL_CONTROL",
  grantRead: "READ",
  grantReadACP: "READ_ACP",
  grantWrite: "WRITE",
  grantWriteACP: "WRITE_ACP",
};

const withoutCounterpart: Readonly<Record<string, string>> = {
  abac: "Drover does not set whether a bucket's tags count in policies. Set it by hand",
  namespace:
    "Drover creates buckets in the global namespace only. Create the bucket by hand, and Drover takes it over",
};

/** Translates a `Bucket` of ACK (s3.services.k8s.aws). Undefined if there is no such bucket in Drover. */
export function translateAck(peer: JsonObject, report: Report): JsonObject | undefined {
  const object = nameOf(peer);
  const settings = objectAt(peer, "spec");
  const { others, unknown, deferred } = readAnnotations(peer);
  const draft = new BucketDraft(peer, others, report);
  for (const [name, value] of deferred) {
    draft.set(name, value, { object, path: "metadata.annotations" });
  }
  for (const key of unknown) draft.warn(object, `metadata.annotations.${key}`, "has no counterpart");
  const { bucket, location } = objectAt(settings, "createBucketConfiguration");
  if (bucket !== undefined || location !== undefined) {
    const message = "is a directory bucket, which Drover does not manage. There is no manifest for it.";
    report({ level: "error", at: `${object}, spec.createBucketConfiguration`, message });
    return undefined;
  }
  const grants = Object.entries(grantFields).flatMap(([name, permission]) =>
    grantsOf(textAt(settings, name) ?? "", permission),
  );
  if (grants.length > 0) draft.setting("acl", { grants }, { object, path: "spec.grant..." });
  // ACK creates the bucket with objectOwnership, and then writes ownershipControls.
  const last = ["objectOwnership"];
  const inOrder = Object.keys(settings).sort((a, b) => Number(last.includes(a)) - Number(last.includes(b)));
  for (const name of inOrder) translateField(draft, name, settings[name] ?? null, object);
  return draft.manifest();
}

function translateField(draft: BucketDraft, name: string, value: Json, object: string): void {
  const source = { object, path: `spec.${name}` };
  if (value === null || name in grantFields) return;
  const take = fields[name];
  if (take !== undefined) take(draft, value, source);
  else if (settingNames.has(name) && isArray(value)) {
    for (const [i, item] of value.entries()) {
      draft.item(name, item, { ...source, path: `${source.path}[${i}]` });
    }
  } else if (settingNames.has(name)) draft.setting(name, value, source);
  else {
    const reason = withoutCounterpart[name] ?? "Drover's Bucket has no such field";
    draft.warn(object, source.path, `${reason}. The field is left out`);
  }
}

/** The grants in a header: `id="a1b2", uri="http://..."`. */
const grantsOf = (header: string, permission: string): Json[] =>
  header
    .split(",")
    .filter((part) => part.trim() !== "")
    .map((part) => {
      const [, kind = "", value = ""] = /^\s*(\w+)\s*=\s*"?([^"]*)"?\s*$/.exec(part) ?? [];
      const type = kind === "uri" ? "Group" : "CanonicalUser";
      return { grantee: { type, [kind]: value }, permission };
    });

/** Annotations of ACK: https://aws-controllers-k8s.github.io/docs */
function readAnnotations(peer: JsonObject) {
  const deferred: [string, Json][] = [];
  const take = (key: string): boolean => {
    const value = textAt(peer, "metadata", "annotations", key) ?? "";
    switch (key) {
      case "services.k8s.aws/region":
        deferred.push(["region", value]);
        return true;
      case "services.k8s.aws/owner-account-id":
        deferred.push(["accountId", value]);
        return true;
      case "services.k8s.aws/deletion-policy":
        deferred.push(["onDelete", value === "delete" ? "Delete" : "Retain"]);
        return true;
      case "services.k8s.aws/read-only":
        if (value === "true") deferred.push(["manage", "ObserveOnly"]);
        return true;
      case "services.k8s.aws/adoption-policy":
        return true;
      case "services.k8s.aws/adoption-fields": {
        const name = adoptedName(value);
        if (name !== undefined) deferred.push(["bucketName", name]);
        return name !== undefined;
      }
      default:
        return false;
    }
  };
  const { others, unknown } = annotationsOf(peer, /^services\.k8s\.aws\//, take);
  return { others, unknown, deferred };
}

function adoptedName(text: string): string | undefined {
  try {
    const fields = parseJson(text);
    return Object.keys(objectAt({ fields }, "fields")).join() === "name" ? textAt(fields, "name") : undefined;
  } catch {
    return undefined;
  }
}
