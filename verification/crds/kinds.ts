// The kinds that definitions serve, and what is asked of both servers about each of them.
import {
  field,
  isObject,
  listAt,
  objectAt,
  omit,
  textAt,
  withField,
} from "../../packages/sandbox/src/json.ts";
import type { Json, JsonObject } from "../../packages/sandbox/src/json.ts";
import { definitions } from "../../packages/sandbox/conformance/fixtures.ts";
import { awaited, get, named, post, put, saying } from "../../packages/sandbox/conformance/steps.ts";
import type { Case, Step } from "../../packages/sandbox/conformance/steps.ts";
import { exampleOf } from "./examples.ts";
import { mutationsOf } from "./mutations.ts";
import type { Found } from "./read-folder.ts";

/** One version of a kind. */
export interface Kind {
  readonly definition: JsonObject;
  readonly apiVersion: string;
  readonly kind: string;
  /** Where its objects are. */
  readonly path: string;
  readonly namespaced: boolean;
  readonly schema: Json;
  readonly hasStatus: boolean;
  /** Words of its schema that were broken already, by where they stand. */
  readonly broken: Set<string>;
}

/** A request of a case: about the object as it is, or as a mutation has left it. */
export interface Labelled {
  readonly step: Step;
  readonly label: string;
  readonly isMutation: boolean;
}
export interface Asking {
  readonly name: string;
  readonly kind: Kind;
  readonly requests: readonly Labelled[];
}
export const caseOf = ({ name, requests }: Asking): Case => ({
  name,
  steps: requests.map(({ step }) => step),
});

/** The versions that a definition serves. */
export function kindsOf(definition: JsonObject): Kind[] {
  const spec = objectAt(definition, "spec");
  const text = (...path: string[]): string => textAt(spec, ...path) ?? "";
  return listAt(spec, "versions")
    .filter((version) => field(version, "served") === true)
    .map((version) => {
      const apiVersion = `${text("group")}/${textAt(version, "name") ?? ""}`;
      const namespaced = text("scope") === "Namespaced";
      return {
        definition,
        apiVersion,
        namespaced,
        kind: text("names", "kind"),
        path: `/apis/${apiVersion}/${namespaced ? "namespaces/<ns>/" : ""}${text("names", "plural")}`,
        schema: field(version, "schema", "openAPIV3Schema") ?? {},
        hasStatus: field(version, "subresources", "status") !== undefined,
        broken: new Set<string>(),
      };
    });
}

/** Installs a definition, and waits until each of its versions is served. */
export const installing = (definition: JsonObject): Case => ({
  name: textAt(definition, "metadata", "name") ?? "",
  steps: [post(definitions, definition)],
});
export const serving = (definition: JsonObject): Case => ({
  name: textAt(definition, "metadata", "name") ?? "",
  steps: [
    saying(`${definitions}/${textAt(definition, "metadata", "name") ?? ""}`, '"InitialNamesAccepted"'),
    ...kindsOf(definition).map(({ path }) => awaited(path.replace("/namespaces/<ns>", ""))),
  ],
});

/** Objects made from the schema. */
export const examplesFor = (kind: Kind): JsonObject[] =>
  (["least", "all"] as const).map((extent) => {
    const made = exampleOf(kind.schema, extent);
    return {
      ...(isObject(made) ? made : {}),
      apiVersion: kind.apiVersion,
      kind: kind.kind,
      metadata: { name: `made-with-${extent}` },
    };
  });

/** The object under another name, in the namespace of its case. */
function placed(object: JsonObject, name: string): JsonObject {
  const metadata = omit(
    objectAt(object, "metadata"),
    ...[
      "namespace",
      "generateName",
      "resourceVersion",
      "uid",
      "creationTimestamp",
      "managedFields",
      "selfLink",
      "ownerReferences",
    ],
  );
  return { ...object, metadata: { ...metadata, name } };
}
const nameOf = (object: JsonObject): string => textAt(object, "metadata", "name") || "sample";

/** How many ways to break one object are tried. */
export interface Effort {
  readonly mutations: number;
}

/** All that is asked about one object: the object itself, its status, and what is wrong with its mutations. */
export function asking(kind: Kind, { object, file }: Found, id: string, effort: Effort): Asking {
  // Nothing keeps two objects without namespaces apart but their names.
  const own = kind.namespaced ? nameOf(object) : `${nameOf(object).slice(0, 40)}-${id}`;
  const body = placed(object, own);
  const about = (label: string, step: Step): Labelled => ({ label, step, isMutation: false });
  const at = `${kind.path}/${own}`;
  const live = (): Labelled => about("get", named("live", get(at)));
  const asLive = (of: JsonObject): JsonObject => ({
    ...of,
    metadata: { ...objectAt(of, "metadata"), resourceVersion: "<live.metadata.resourceVersion>" },
  });
  const strict = "fieldValidation=Strict&dryRun=All";
  return {
    name: `${kind.apiVersion} ${kind.kind} ${own} (${file})`,
    kind,
    requests: [
      about("create, dry run", post(`${kind.path}?${strict}`, body)),
      about("create", post(`${kind.path}?fieldManager=crds`, body)),
      live(),
      about("update", put(`${at}?fieldManager=other`, asLive(body))),
      live(),
      ...(kind.hasStatus ? statusRequests(kind, body, at, asLive, about, live) : []),
      ...mutationsOf(placed(object, `${own}-m`), kind.schema, kind.broken, effort.mutations).map(
        ({ word, place, object: changed }): Labelled => ({
          label: `${word} at ${place}`,
          isMutation: true,
          step: post(`${kind.path}?${strict}`, changed),
        }),
      ),
    ],
  };
}

/** A status that was given, one that is made, and some that are wrong. */
function statusRequests(
  kind: Kind,
  body: JsonObject,
  at: string,
  asLive: (of: JsonObject) => JsonObject,
  about: (label: string, step: Step) => Labelled,
  live: () => Labelled,
): Labelled[] {
  const schema = field(kind.schema, "properties", "status") ?? {};
  const given = field(body, "status");
  const statuses = [
    ...(given === undefined ? [] : [given]),
    ...(["least", "all"] as const).map((extent) => exampleOf(schema, extent)),
  ];
  const whole = (status: Json): JsonObject => asLive(withField(body, "status", status));
  const full = statuses.at(-1) ?? {};
  const wrong = isObject(full)
    ? mutationsOf({ "": full }, { type: "object", properties: { "": schema } }, kind.broken, 15)
    : [];
  return [
    ...statuses.flatMap((status) => [
      about("status", put(`${at}/status?fieldManager=controller`, whole(status))),
      live(),
    ]),
    ...wrong.map(({ word, place, object }): Labelled => ({
      label: `status with ${word} at ${place}`,
      isMutation: true,
      step: put(`${at}/status?dryRun=All`, whole(field(object, "") ?? null)),
    })),
  ];
}
