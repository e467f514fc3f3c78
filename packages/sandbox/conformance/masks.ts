// What two servers cannot have in common is masked before their answers are compared, and nothing else: uids, times,
// versions (their order stays), suffixes of generated names, continue tokens and allotted addresses.
import { field, isArray, isObject, isString, textAt } from "../src/json.ts";
import type { Json } from "../src/json.ts";
import type { Answer } from "./servers.ts";

/** Metadata that is not compared at all. Taken out when the sandbox has it. */
const notCompared = new Set(["managedFields"]);

const uid = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g;
const time = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;
const address = /\b(?:10\.0|127\.1)(?:\.\d{1,3}){2}\b/g;
const server = /\b127\.0\.0\.1:\d+\b/g;
/** Versions in the words of messages. */
const spoken =
  /(resource version: |current: |in record \(|ResourceVersion in the precondition \(|resource version: \d+ \()(\d+)/g;
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
  for (const inner of Object.values(value)) yield* everyValue(inner as Json);
}

/** The versions of single objects in all answers, oldest first: lists and bookmarks are placed among them. */
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

function generatedNames(answers: readonly Answer[]): readonly string[] {
  const found = new Set<string>();
  for (const { body } of answers)
    for (const value of everyValue(body)) {
      const base = textAt(value, "metadata", "generateName");
      const name = textAt(value, "metadata", "name");
      if (
        base !== undefined &&
        name !== undefined &&
        name.startsWith(base) &&
        name.length === base.length + 5
      )
        found.add(name);
    }
  return [...found];
}

/** Masks the answers of one case on one server. */
export function masked(answers: readonly Answer[], now = Date.now()): readonly Answer[] {
  const versions = versionsIn(answers);
  const generated = generatedNames(answers);
  const uids = new Map<string, string>();
  const ofVersion = (text: string, exact: boolean): string => {
    const version = Number(text);
    const rank = versions.filter((one) => one <= version).length;
    return exact || version === 0
      ? `<version ${version === 0 ? "zero" : rank}>`
      : `<version ${rank} or later>`;
  };
  const text = (value: string): string => {
    const without = generated.reduce(
      (rest, name, i) => rest.replaceAll(name, `${name.slice(0, -5)}<${i + 1}>`),
      value,
    );
    return without
      .replaceAll(uid, (one) => {
        const known = uids.get(one) ?? `<uid ${uids.size + 1}>`;
        uids.set(one, known);
        return known;
      })
      .replaceAll(time, (one) => (Math.abs(Date.parse(one) - now) < 2 * day ? "<time>" : one))
      .replaceAll(address, "<address>")
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
    return Object.fromEntries(
      Object.entries(value)
        .filter(([key]) => !notCompared.has(key))
        .map(([key, inner]): [string, Json] => {
          if (key === "resourceVersion" && isString(inner) && /^\d+$/.test(inner))
            return [key, ofVersion(inner, !inList && isExact(value))];
          if (key === "continue" && isString(inner) && inner !== "") return [key, "<continue>"];
          if (key === "cells" && isArray(inner))
            return [key, inner.map((one) => (isString(one) && age.test(one) ? "<age>" : walk(one)))];
          return [text(key), walk(inner, listed && key === "metadata")];
        }),
    );
  };
  return answers.map(({ code, headers, body }) => ({
    code,
    headers: walk(headers) as Answer["headers"],
    body: walk(body),
  }));
}
