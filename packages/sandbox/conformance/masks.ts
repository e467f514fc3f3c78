// Masks the parts of answers that cannot be equal on two servers: uids, times, versions (but not their order), suffixes
// of generated names, continue tokens and allotted addresses. Also masks the parts that the sandbox lacks on purpose.
import { field, isArray, isObject, isString, listAt, objectAt, omit, textAt } from "../src/json.ts";
import { builtInTypes } from "../src/kinds/built-in-types.ts";
import type { Json, JsonObject } from "../src/json.ts";
import { isMissing } from "../src/http/missing.ts";
import { fixturePlurals } from "./fixtures.ts";
import type { Run } from "./run-case.ts";
import type { Answer } from "./servers.ts";

const uid = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g;
const time = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;
const address = /\b(?:10\.0|127\.1)(?:\.\d{1,3}){2}\b/g;
const server = /\b127\.0\.0\.1:\d+\b/g;
/** Versions in messages. */
const spoken =
  /(resource version: |current: |in record \(|ResourceVersion in the precondition \(|ResourceVersion in object meta: |resource version: \d+ \()(\d+)/g;
const age = /^\d+s$/;
const day = 86_400_000;

const isListLike = (value: Json): boolean =>
  field(value, "items") !== undefined || field(value, "rows") !== undefined;
const versionText = (value: Json): string | undefined => {
  const text = textAt(value, "metadata", "resourceVersion");
  return text !== undefined && /^\d+$/.test(text) ? text : undefined;
};

function* everyValue(value: Json): Generator<Json> {
  yield value;
  if (typeof value !== "object" || value === null) return;
  for (const inner of Object.values(value)) yield* everyValue(inner);
}

/** The versions of single objects in all answers, oldest first. Those of lists and bookmarks are placed among them. */
function versionsIn(answers: readonly Answer[]): readonly number[] {
  const found = new Set<number>();
  for (const { body } of answers)
    for (const value of everyValue(body)) {
      const text = isListLike(value) ? undefined : versionText(value);
      const bookmark = field(value, "metadata", "annotations", "k8s.io/initial-events-end") !== undefined;
      if (text !== undefined && !bookmark) found.add(Number(text));
    }
  return [...found].sort((a, b) => a - b);
}

/** The uids that the server has generated. */
function uidsIn(answers: readonly Answer[]): ReadonlySet<string> {
  const found = new Set<string>();
  for (const { body } of answers)
    for (const value of everyValue(body)) {
      const own = textAt(value, "metadata", "uid") ?? textAt(value, "details", "uid");
      if (own !== undefined) found.add(own);
    }
  return found;
}

const suffix = "[bcdfghjklmnpqrstvwxz2456789]{5}\\b";
/** The prefixes of generated names in the requests. */
function prefixes({ asked }: Run): readonly RegExp[] {
  const found = asked.flatMap(({ body }) =>
    [...body.matchAll(/"generateName":"([^"]+)"/g)].map(([, base]) => base ?? ""),
  );
  return [...new Set(found)].map((base) => new RegExp(`(${RegExp.escape(base.slice(0, 58))})${suffix}`, "g"));
}

/**
 * Several causes come in the random order of a Go map. So they are sorted, and with them their list in the message.
 */
function withSortedCauses(status: JsonObject): JsonObject {
  const causes = [...listAt(status, "details", "causes")].sort((a, b) =>
    JSON.stringify(a) < JSON.stringify(b) ? -1 : 1,
  );
  if (causes.length < 2) return status;
  const parts = new Set(
    causes.map((one) => `${textAt(one, "field") ?? ""}: ${textAt(one, "message") ?? ""}`),
  );
  const message = textAt(status, "message") ?? "";
  const start = message.indexOf("is invalid: [") + "is invalid: [".length;
  const listed = message.slice(start, -1);
  const sorted = [...parts].join(", ");
  const same = listed.length === sorted.length && [...parts].every((part) => listed.includes(part));
  return {
    ...status,
    details: { ...objectAt(status, "details"), causes },
    message: same ? `${message.slice(0, start)}${sorted}]` : message,
  };
}

/**
 * Managers are sorted by the seconds of their times, so they are sorted again without these. What the controllers of the
 * server own of a definition depends on the second in which they ran.
 */
function withSortedManagers(metadata: JsonObject): JsonObject {
  const entries = listAt(metadata, "managedFields");
  const order = (entry: Json): string =>
    JSON.stringify(["operation", "manager", "apiVersion", "subresource"].map((key) => field(entry, key)));
  const others = entries.filter((entry) => textAt(entry, "manager") !== "kube-apiserver");
  return entries.length === 0
    ? metadata
    : { ...metadata, managedFields: others.sort((a, b) => (order(a) < order(b) ? -1 : 1)) };
}

/** True if both servers have it at all times: other cases create and delete definitions meanwhile. */
const isShared = (group: string, resource?: string): boolean => {
  const [plural = "", subresource = ""] = (resource ?? "").split("/");
  if (group === "example.com") return resource === undefined || fixturePlurals.includes(plural);
  const known = builtInTypes.filter((type) => type.group === group);
  if (resource === undefined) return known.length > 0;
  return known.some((type) => type.resource === plural) && !isMissing(plural, subresource);
};
const isSharedPath = (path: string): boolean => {
  const [root = "", first, second, ...rest] = path.split("/").slice(1);
  if (root === "apis" && first) return isShared(first) && rest.length === 0;
  if (root === "api") return second === undefined;
  return (
    ["apis", "openapi", "version"].includes(root) ||
    (/^(health|live|ready)z$/.test(root) && first === undefined)
  );
};

/**
 * A document of discovery with only the entries that the sandbox has, too. The kinds of definitions come in the random
 * order of a Go map, each followed by its subresources, so they are sorted.
 */
function withShared(body: Json): Json {
  if (!isObject(body)) return body;
  const { paths, groups, resources } = body;
  if (isArray(paths)) return { ...body, paths: paths.filter((one) => isString(one) && isSharedPath(one)) };
  if (isArray(groups))
    return { ...body, groups: groups.filter((one) => isShared(textAt(one, "name") ?? "")) };
  if (!isArray(resources)) return body;
  const [group = ""] = (textAt(body, "groupVersion") ?? "").split("/").slice(0, -1);
  const main = (one: Json): string => (textAt(one, "name") ?? "").split("/")[0] ?? "";
  const shared = resources.filter((one) => isShared(group, textAt(one, "name") ?? ""));
  const sorted = group === "example.com" ? shared.sort((a, b) => main(a).localeCompare(main(b))) : shared;
  return { ...body, resources: sorted.map(withoutCollections) };
}

/** The sandbox deletes no collections, and shows no hash of the version that is stored. */
const withoutCollections = (resource: Json): JsonObject => ({
  ...omit(objectAt(resource), "storageVersionHash"),
  verbs: listAt(resource, "verbs").filter((verb) => verb !== "deletecollection"),
});

/** Masks the answers of one case on one server. */
export function masked(run: Run, now = Date.now()): readonly Answer[] {
  const { answers } = run;
  const versions = versionsIn(answers);
  const generated = prefixes(run);
  const given = uidsIn(answers);
  const uids = new Map<string, string>();
  const addresses = new Map<string, string>();
  const ofVersion = (text: string, exact: boolean): string => {
    const version = Number(text);
    const rank = versions.filter((one) => one <= version).length;
    return exact || version === 0
      ? `<version ${version === 0 ? "zero" : rank}>`
      : `<version ${rank} or later>`;
  };
  const text = (value: string): string => {
    const without = generated.reduce((rest, name) => rest.replaceAll(name, "$1<generated>"), value);
    return without
      .replaceAll(uid, (one) => {
        if (!given.has(one)) return one;
        const known = uids.get(one) ?? `<uid ${uids.size + 1}>`;
        uids.set(one, known);
        return known;
      })
      .replaceAll(time, (one) => (Math.abs(Date.parse(one) - now) < 2 * day ? "<time>" : one))
      .replaceAll(address, (one) => {
        const known = addresses.get(one) ?? `<address ${addresses.size + 1}>`;
        addresses.set(one, known);
        return known;
      })
      .replaceAll(server, "<server>")
      .replaceAll(spoken, "$1<version>");
  };
  const isExact = (parent: Json): boolean =>
    field(parent, "annotations", "k8s.io/initial-events-end") === undefined;
  const walk = (value: Json, inList = false): Json => {
    if (isString(value)) return text(value);
    if (isArray(value)) return value.map((one) => walk(one));
    if (!isObject(value)) return value;
    const listed = isListLike(value);
    const shown: JsonObject = Object.fromEntries(
      Object.entries(value).map(([key, inner]): [string, Json] => {
        if (key === "resourceVersion" && isString(inner) && /^\d+$/.test(inner))
          return [key, ofVersion(inner, !inList && isExact(value))];
        if (key === "continue" && isString(inner) && inner !== "") return [key, "<continue>"];
        if (key === "cells" && isArray(inner))
          return [key, inner.map((one) => (isString(one) && age.test(one) ? "<age>" : walk(one)))];
        return [text(key), walk(inner, listed && key === "metadata")];
      }),
    );
    return withSortedManagers(withSortedCauses(shown));
  };
  return answers.map(({ code, headers, body }) => ({
    code,
    headers: walk(headers) as Answer["headers"],
    body: walk(withShared(body)),
  }));
}
