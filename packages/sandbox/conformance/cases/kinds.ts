// The built-in kinds with fields that the sandbox knows, each through the same requests.
import { objectAt, textAt } from "../../src/json.ts";
import type { JsonObject } from "../../src/json.ts";
import { del, get, named, object, patch, post, put } from "../steps.ts";
import type { Case, Step } from "../steps.ts";

interface Kind {
  readonly path: string;
  readonly object: JsonObject;
  /** The same object with other content. */
  readonly other: JsonObject;
  readonly status?: JsonObject;
}

const kind = (
  path: string,
  named: string,
  first: JsonObject,
  second: JsonObject,
  status?: JsonObject,
): Kind => ({
  path,
  object: object("v1", named, "<id>", first),
  other: object("v1", named, "<id>", second, { labels: { changed: "yes" } }),
  ...(status && { status }),
});
const core = (resource: string, named: string, first: JsonObject, second: JsonObject): Kind =>
  kind(`/api/v1/namespaces/<ns>/${resource}`, named, first, second);
const kindsOf: readonly Kind[] = [
  core("configmaps", "ConfigMap", { data: { a: "1" } }, { data: { a: "2" }, binaryData: { b: "AAE=" } }),
  core("secrets", "Secret", { stringData: { a: "1" } }, { data: { a: "Mg==" }, stringData: { b: "2" } }),
  core("serviceaccounts", "ServiceAccount", {}, { automountServiceAccountToken: false }),
  kind("/api/v1/namespaces", "Namespace", {}, {}, { phase: "Terminating" }),
];

const withVersion = (body: JsonObject, resourceVersion: string): JsonObject => ({
  ...body,
  metadata: { ...objectAt(body, "metadata"), resourceVersion },
});

type Life = (name: string, ...steps: readonly Step[]) => Case;

function livesOf(kind: Kind): Case[] {
  const { path, object: first, other } = kind;
  const at = `${path}/<id>`;
  const create = named("made", post(path, first));
  const about = textAt(first, "kind") ?? "";
  const life: Life = (name, ...steps) => ({ name: `${about}: ${name}`, steps });
  return [
    life("is created, read and created again", create, get(at), post(path, first)),
    life(
      "is replaced without a version, and where there is none",
      put(at, first),
      create,
      put(at, other),
      get(at),
    ),
    life(
      "is replaced at its version, at an old one, at a wrong uid",
      create,
      put(at, withVersion(other, "<made.metadata.resourceVersion>")),
      put(at, withVersion(first, "<made.metadata.resourceVersion>")),
      put(at, { ...other, metadata: { name: "<id>", uid: "00000000-0000-0000-0000-000000000000" } }),
      put(at, { ...other, metadata: { name: "another" } }),
    ),
    life(
      "is replaced by itself, and by a dry run",
      create,
      put(at, withVersion(first, "<made.metadata.resourceVersion>")),
      put(`${at}?dryRun=All`, withVersion(other, "<made.metadata.resourceVersion>")),
      get(at),
    ),
    life(
      "is patched",
      create,
      patch(at, { metadata: { labels: { a: "b" } } }),
      patch(at, { metadata: { labels: { a: null } } }),
      patch(at, {}),
    ),
    ...moreOf(kind, life),
  ];
}

function moreOf({ path, object: first, status }: Kind, life: Life): Case[] {
  const at = `${path}/<id>`;
  const create = named("made", post(path, first));
  return [
    life(
      "is deleted while a finalizer holds it, then not",
      post(path, { ...first, metadata: { name: "<id>", finalizers: ["example.com/hold"] } }),
      del(at),
      del(at),
      get(at),
      patch(at, { metadata: { finalizers: null } }),
      get(at),
    ),
    life(
      "is changed, and its metadata is wrong",
      create,
      patch(at, { metadata: { finalizers: ["orphan", "foregroundDeletion"] } }),
      patch(at, { metadata: { labels: { "a b": "c d" }, ownerReferences: [{ kind: "Event" }] } }),
      patch(`${at}/status`, { metadata: { annotations: { "a b": "c" } } }),
    ),
    life("is deleted, and deleted again", create, del(at), del(at), get(at)),
    life("is created by a dry run", post(`${path}?dryRun=All`, first), get(at)),
    life(
      "has a status",
      create,
      put(`${at}/status`, { ...first, status: status ?? {} }),
      patch(`${at}/status`, { status: status ?? {} }),
      get(`${at}/status`),
      get(at),
    ),
    life(
      "knows its fields",
      post(`${path}?fieldValidation=Strict`, { ...first, bogus: 1 }),
      post(`${path}?fieldValidation=Warn`, { ...first, bogus: 1 }),
      put(`${at}?fieldValidation=Ignore`, { ...first, bogus: 1 }),
    ),
    life(
      "takes no wrong type",
      post(path, { ...first, metadata: { name: 1 } }),
      post(path, { ...first, metadata: "x" }),
      post(path, { ...first, kind: "Other" }),
      post(path, { ...first, apiVersion: "v9" }),
    ),
    life(
      "is a table, and only its metadata",
      create,
      get(at, { accept: "application/json;as=Table;g=meta.k8s.io;v=v1" }),
      get(at, { accept: "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1" }),
    ),
  ];
}

export const kinds: readonly Case[] = kindsOf.flatMap(livesOf);
