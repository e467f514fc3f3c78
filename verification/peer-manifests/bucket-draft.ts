import { customResourceDefinition } from "@drover/controller";
import { Bucket } from "@drover/s3-bucket";
import {
  type Json,
  type JsonObject,
  listAt,
  objectAt,
  omit,
  parseJson,
  textAt,
} from "../../packages/sandbox/src/json.ts";
import { settingsSpec } from "../../functions/s3-bucket/src/s3/settings/settings-of.ts";
import { fitSchema, type Reading } from "./fit-schema.ts";
import { settingShapes } from "./setting-shapes.ts";

/** A field that the translation leaves out or changes, or an object that it cannot translate. */
export interface Problem {
  /** error: there is no manifest for the object. */
  readonly level: "warning" | "error";
  /** The object and its field. */
  readonly at: string;
  readonly message: string;
}

/** Where a setting is in the peer's manifest. */
export interface Source {
  /** The object, for messages. */
  readonly object: string;
  readonly path: string;
  readonly names?: Readonly<Record<string, string>>;
  readonly refer?: Reading["refer"];
}

export type Report = (problem: Problem) => void;

const [version] = customResourceDefinition(Bucket).spec.versions;
const specSchema = objectAt(
  parseJson(JSON.stringify(version.schema.openAPIV3Schema)),
  "properties",
  "spec",
  "properties",
);

/** The schema of a setting, as in the CRD. */
export const schemaOf = (setting: string): JsonObject => objectAt(specSchema, setting);

/** The fields of the spec that are settings of the bucket. */
export const settingNames: ReadonlySet<string> = new Set(Object.keys(settingsSpec));

/** A manifest of Drover's `Bucket` while it is written. */
export class BucketDraft {
  readonly #object: string;
  readonly #metadata: JsonObject;
  readonly #report: Report;
  readonly #spec = new Map<string, Json>();
  /** The field of the peer's manifest for each field of the spec. */
  readonly #sources = new Map<string, string>();

  /** @param annotations those that the peer's controller does not read. */
  constructor(peer: JsonObject, annotations: JsonObject, report: Report) {
    const { name = "", namespace, labels } = objectAt(peer, "metadata");
    this.#object = nameOf(peer);
    this.#report = report;
    this.#metadata = {
      name,
      ...(namespace !== undefined && { namespace }),
      ...(labels !== undefined && { labels }),
      ...(Object.keys(annotations).length > 0 && { annotations }),
    };
    // The peer has created the bucket already.
    this.#spec.set("adopt", "IfUnowned");
    for (const field of ["finalizers", "ownerReferences"])
      if (listAt(peer, "metadata", field).length > 0)
        this.warn(this.#object, `metadata.${field}`, "is left out: it belongs to the peer's controllers");
  }

  warn(object: string, path: string, message: string): void {
    this.#report({ level: "warning", at: `${object}, ${path}`, message });
  }

  /** Sets a field of the spec that is no setting, or a setting that has its shape already. */
  set(field: string, value: Json, { object, path }: Source): void {
    const before = this.#spec.get(field);
    if (this.#sources.has(field) && JSON.stringify(before) !== JSON.stringify(value)) {
      this.warn(object, path, `is left out: ${this.#sources.get(field) ?? field} has set ${field} already`);
      return;
    }
    this.#sources.set(field, `${object}, ${path}`);
    this.#spec.set(field, value);
  }

  /** Translates a setting, completely or not at all: half a filter would be for more objects. */
  setting(name: string, value: Json, source: Source): void {
    const fitted = this.#fit(name, value, schemaOf(name), source);
    if (fitted !== undefined) this.set(name, fitted, source);
  }

  /** Adds an item to a setting that is a list. */
  item(name: string, value: Json, source: Source): void {
    const fitted = this.#fit(name, value, objectAt(schemaOf(name), "items"), source);
    if (fitted === undefined) return;
    this.#sources.set(name, `${source.object}, ${source.path}`);
    this.#spec.set(name, [...listAt(Object.fromEntries(this.#spec), name), fitted]);
  }

  #fit(name: string, value: Json, schema: JsonObject, { object, path, names, refer }: Source) {
    const refused: string[] = [];
    const reading: Reading = {
      names: names ?? {},
      refer: refer ?? (() => undefined),
      refuse: (at, reason) => {
        refused.push(at);
        this.warn(object, at, `${reason}. So ${name} is left out`);
      },
      note: (at, reason) => this.warn(object, at, reason),
    };
    const shaped = settingShapes[name]?.(value, path, reading) ?? value;
    const fitted = fitSchema(shaped, schema, path, reading);
    return refused.length === 0 ? fitted : undefined;
  }

  /** The manifest, without the fields that Drover would refuse. Undefined if it has no valid name of a bucket. */
  manifest(): JsonObject | undefined {
    if (!this.#spec.has("bucketName")) {
      this.#fail(`${this.#object}, spec`, "does not name the bucket.");
      return undefined;
    }
    for (;;) {
      const spec = Object.fromEntries(this.#spec);
      const { error } = Bucket.spec.safeParse(spec);
      if (error === undefined) {
        return { apiVersion: Bucket.apiVersion, kind: Bucket.kind, metadata: this.#metadata, spec };
      }
      for (const { path, message } of error.issues) {
        const [field = ""] = path.map(String);
        const at = this.#sources.get(field) ?? `${this.#object}, ${field}`;
        if (field === "bucketName") {
          this.#fail(at, message);
          return undefined;
        }
        const refused = `${path.join(".")}: ${message.replace(/\.$/, "")}. So ${field} is left out`;
        this.#report({ level: "warning", at, message: refused });
        this.#spec.delete(field);
      }
    }
  }

  #fail(at: string, reason: string): void {
    this.#report({
      level: "error",
      at,
      message: `${reason.replace(/\.?$/, ".")} There is no manifest for this bucket.`,
    });
  }
}

/** An object's kind, namespace and name. */
export const nameOf = (peer: Json): string => {
  const place = textAt(peer, "metadata", "namespace");
  const name = textAt(peer, "metadata", "name") ?? "(no name)";
  return `${textAt(peer, "kind") ?? "(no kind)"} ${place === undefined ? "" : `${place}/`}${name}`;
};

/**
 * The annotations that stay. The others are instructions for the peer's controller: `take` reads one, and returns false
 * if there is no counterpart.
 */
export function annotationsOf(peer: JsonObject, isPeers: RegExp, take: (key: string) => boolean) {
  const annotations = omit(
    objectAt(peer, "metadata", "annotations"),
    "kubectl.kubernetes.io/last-applied-configuration",
  );
  const mine = Object.keys(annotations).filter((key) => isPeers.test(key));
  return { others: omit(annotations, ...mine), unknown: mine.filter((key) => !take(key)) };
}
