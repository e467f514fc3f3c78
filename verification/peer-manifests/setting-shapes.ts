import {
  field,
  isArray,
  isObject,
  isString,
  type Json,
  type JsonObject,
  omit,
  parseJson,
} from "../../packages/sandbox/src/json.ts";
import type { Reading } from "./fit-schema.ts";

type Shape = (value: Json, path: string, reading: Reading) => Json;

/** The only object of a list, as older versions of Crossplane's provider have it, or the object itself. */
function single(value: Json, path: string, { refuse }: Reading): JsonObject {
  if (isArray(value) && value.length > 1) refuse(path, "has more than one value");
  return objectOf(isArray(value) ? (value[0] ?? null) : value);
}

/** Changes of a setting's value that do not follow from the names of its fields. */
export const settingShapes: Readonly<Record<string, Shape>> = {
  /** A text in Drover. */
  versioning(value, path, reading) {
    const { refuse } = reading;
    const { status, mfaDelete, ...others } = single(value, path, reading);
    for (const name of Object.keys(others)) refuse(`${path}.${name}`, "Drover's Bucket has no such field");
    if (isString(mfaDelete) && mfaDelete !== "Disabled") {
      refuse(`${path}.mfaDelete`, "Drover cannot send the code of an MFA device");
    }
    if (status !== "Disabled") return status ?? null;
    refuse(`${path}.status`, "Disabled is a bucket whose versioning was never set, as without the field");
    return null;
  },
  policy(value, path, { refuse }) {
    if (isString(value) && value.trim() === "") {
      refuse(path, "is empty. A new bucket has no policy; delete the policy of an existing one by hand");
    }
    return value;
  },
  /** A switch that is left out is off for the peers; Drover would leave it as it is, which is on in new buckets of AWS. */
  publicAccessBlock: (value) => ({
    ...Object.fromEntries(publicAccess.filter((name) => !hasField(value, name)).map((name) => [name, false])),
    ...objectOf(value),
  }),
  /** A rule without a filter is one of the API's first version. */
  replication(value, path, { note }) {
    const name = hasField(value, "rules") ? "rules" : "rule";
    const list = field(value, name);
    if (!isArray(list)) return value;
    const rules = list.map((rule, i): Json => {
      const priority = field(rule, "priority") ?? i;
      const hasFilter = ![undefined, null].includes(field(rule, "filter") as null);
      if (hasFilter || hasField(rule, "deleteMarkerReplication")) return { ...objectOf(rule), priority };
      const reason =
        "has no filter, so that delete markers are copied, too: written as deleteMarkerReplication";
      note(`${path}.${name}[${i}]`, reason);
      return { ...objectOf(rule), priority, deleteMarkerReplication: { status: "Enabled" } };
    });
    return { ...objectOf(value), [name]: rules };
  },
  /** Crossplane has the rules as JSON, too. */
  website(value, path, { refuse }) {
    const text = field(value, "routingRules");
    if (!isString(text)) return value;
    try {
      return { ...objectOf(value), routingRules: parseJson(text) };
    } catch {
      refuse(`${path}.routingRules`, "is not JSON");
      return omit(objectOf(value), "routingRules");
    }
  },
  /** Crossplane has the rules of a filter as two fields. */
  notification: (value) =>
    Object.fromEntries(
      Object.entries(objectOf(value)).map(([name, list]) => [
        name,
        isArray(list) ? list.map((item) => (isObject(item) ? withFilter(item) : item)) : list,
      ]),
    ),
  /** `Enabled` is the only value, and Drover always sends it. */
  objectLockConfiguration: (value) => omit(objectOf(value), "objectLockEnabled"),
  acl(value, path, reading) {
    const { accessControlPolicy = null, ...others } = objectOf(value);
    return { ...others, ...single(accessControlPolicy, `${path}.accessControlPolicy`, reading) };
  },
};

const publicAccess = ["blockPublicAcls", "ignorePublicAcls", "blockPublicPolicy", "restrictPublicBuckets"];

function withFilter({ filterPrefix, filterSuffix, ...item }: JsonObject): JsonObject {
  const filterRules = Object.entries({ prefix: filterPrefix, suffix: filterSuffix }).flatMap(
    ([name, value]) => (value === undefined || value === null || value === "" ? [] : [{ name, value }]),
  );
  return filterRules.length === 0 ? item : { ...item, filter: { key: { filterRules } } };
}

const objectOf = (value: Json): JsonObject => (isObject(value) ? value : {});
const hasField = (value: Json, name: string): boolean =>
  Object.keys(objectOf(value)).some((given) => given.toLowerCase() === name.toLowerCase());
