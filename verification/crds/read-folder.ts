// What a folder holds: every CustomResourceDefinition in it, and every object of their kinds, whatever else is there.
import { exactYaml, writeJson } from "@drover/json";
import { readdir, readFile, stat } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { parseAllDocuments } from "yaml";
import {
  field,
  isJson,
  isObject,
  listAt,
  objectAt,
  omit,
  sortedJson,
  textAt,
} from "../../packages/sandbox/src/json.ts";
import type { JsonObject } from "../../packages/sandbox/src/json.ts";

/** A definition, or an object of one, and where it was found. */
export interface Found {
  readonly file: string;
  readonly object: JsonObject;
}

/** All that one folder of the whole, a project, brings. */
export interface Project {
  readonly name: string;
  readonly definitions: readonly Found[];
  readonly samples: readonly Found[];
}

export interface Folder {
  readonly projects: readonly Project[];
  /** Files or documents that are no YAML: templates, most of them. */
  readonly unreadable: number;
  /** Definitions that asked for a webhook to convert, which both servers are spared. */
  readonly withoutWebhook: readonly string[];
}

/** Larger files hold no samples. */
const largest = 8 * 1024 * 1024;

async function* filesIn(folder: string): AsyncGenerator<string> {
  const entries = await readdir(folder, { withFileTypes: true });
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, entry.name);
    if (entry.isDirectory() && entry.name !== ".git" && entry.name !== "node_modules") yield* filesIn(path);
    if (entry.isFile() && /\.(ya?ml|json)$/i.test(entry.name)) yield path;
  }
}

/** A template's braces are maps to YAML, and its variables are texts. */
const isTemplate = (object: JsonObject): boolean =>
  isObject(field(object, "metadata", "name")) || /\$|\{\{/.test(textAt(object, "metadata", "name") ?? "");

/** The objects in a text; undefined for each document that is none. */
function objectsIn(text: string): (JsonObject | undefined)[] {
  const documents = parseAllDocuments(text, { ...exactYaml.options, logLevel: "silent", uniqueKeys: false });
  if (!Array.isArray(documents)) return [];
  return documents.flatMap((document): (JsonObject | undefined)[] => {
    if (document.errors.length > 0) return [undefined];
    let value: unknown;
    try {
      value = document.toJS({ maxAliasCount: 100, reviver: exactYaml.reviver });
    } catch {
      return [undefined];
    }
    if (!isJson(value) || !isObject(value)) return [];
    const objects = textAt(value, "kind") === "List" ? listAt(value, "items").filter(isObject) : [value];
    return objects.map((one) => (isTemplate(one) ? undefined : one));
  });
}

const isDefinition = (object: JsonObject): boolean =>
  textAt(object, "kind") === "CustomResourceDefinition" &&
  textAt(object, "apiVersion") === "apiextensions.k8s.io/v1" &&
  // Without versions it is a patch of one.
  listAt(object, "spec", "versions").length > 0;
const nameOf = (object: JsonObject): string => textAt(object, "metadata", "name") ?? "";

/** As it is installed: by itself, without what no other server could reach. */
function installable({ file, object }: Found): Found {
  const spec = objectAt(object, "spec");
  const conversion = textAt(spec, "conversion", "strategy") === "Webhook" ? omit(spec, "conversion") : spec;
  // Dumps of a cluster have its metadata in them.
  const metadata = omit(objectAt(object, "metadata"), "resourceVersion", "uid", "selfLink", "managedFields");
  return { file, object: { ...omit(object, "status"), metadata, spec: conversion } };
}

/** The kinds that a definition serves, as `apiVersion kind`. */
const served = ({ object }: Found): string[] =>
  listAt(object, "spec", "versions")
    .filter((version) => field(version, "served") === true)
    .map(
      (version) =>
        `${textAt(object, "spec", "group") ?? ""}/${textAt(version, "name") ?? ""} ${textAt(object, "spec", "names", "kind") ?? ""}`,
    );

/** The first of all that are the same by `key`, in their order; a longer one takes a shorter one's place. */
function once(all: readonly Found[], key: (found: Found) => string): Found[] {
  const first = new Map<string, Found>();
  const size = ({ object }: Found): number => writeJson(object).length;
  for (const found of all) {
    const known = first.get(key(found));
    if (!known || size(found) > size(known)) first.set(key(found), found);
  }
  return [...first.values()];
}

/** Reads a folder. Each folder in it is a project; files beside them are one together. Rejects where it cannot be read. */
export async function readFolder(folder: string): Promise<Folder> {
  const found: Found[] = [];
  let unreadable = 0;
  for await (const file of filesIn(folder)) {
    if ((await stat(file)).size > largest) continue;
    const text = await readFile(file, "utf8");
    if (!text.includes("apiVersion")) continue;
    for (const object of objectsIn(text)) {
      if (object) found.push({ file: relative(folder, file), object });
      else unreadable += 1;
    }
  }
  const given = once(
    found.filter(({ object }) => isDefinition(object)),
    ({ object }) => nameOf(object),
  );
  const definitions = given.map(installable);
  const kinds = new Set(definitions.flatMap(served));
  const samples = once(
    found.filter(({ object }) =>
      kinds.has(`${textAt(object, "apiVersion") ?? ""} ${textAt(object, "kind") ?? ""}`),
    ),
    ({ object }) => sortedJson(object),
  );
  const projectOf = ({ file }: Found): string => (file.includes(sep) ? (file.split(sep)[0] ?? "") : ".");
  const names = [...new Set([...definitions, ...samples].map(projectOf))].sort();
  return {
    projects: names.map((name) => ({
      name,
      definitions: definitions.filter((one) => projectOf(one) === name),
      samples: samples.filter((one) => projectOf(one) === name),
    })),
    unreadable,
    withoutWebhook: given
      .filter(({ object }) => textAt(object, "spec", "conversion", "strategy") === "Webhook")
      .map(({ object }) => nameOf(object)),
  };
}
