import type { z } from "zod";
import type { StatusCondition } from "./condition.ts";

/** An author's definition of a kind. The zod schemas are the only source of its types, CRD and validation. */
export interface ResourceDefinition<Spec extends z.ZodObject, Status extends z.ZodObject> {
  /** API group, a DNS name such as `s3.drover.dev`. */
  readonly group: string;
  /** `v1`, `v1beta1`, `v1alpha1`, ... */
  readonly version: string;
  /** CamelCase, singular. */
  readonly kind: string;
  readonly scope: "Namespaced" | "Cluster";
  /** Default: `pluralOf` of the kind. */
  readonly plural?: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly spec: Spec;
  /** The author's fields; `observedGeneration` and `conditions` are added to every kind. */
  readonly status: Status;
  readonly printerColumns?: readonly PrinterColumn[];
  /** Lets `kubectl scale` and autoscalers read and write the number of replicas. */
  readonly scale?: ScalePaths;
  readonly description?: string;
}

/** The fields that the scale subresource maps to: JSON paths such as `.spec.replicas`. */
export interface ScalePaths {
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  readonly labelSelectorPath?: string;
}

/** A column of `kubectl get`. */
export interface PrinterColumn {
  readonly name: string;
  readonly type: "string" | "integer" | "number" | "boolean" | "date";
  /** A JSON path into the object, such as `.spec.region`. */
  readonly jsonPath: string;
  readonly description?: string;
  /** 0 is always shown; a higher number only with `-o wide`. */
  readonly priority?: number;
}

/** A defined kind. */
export interface Resource<
  Spec extends z.ZodObject = z.ZodObject,
  Status extends z.ZodObject = z.ZodObject,
> extends ResourceDefinition<Spec, Status> {
  readonly plural: string;
  readonly singular: string;
  /** `group/version`. */
  readonly apiVersion: string;
  /** Set for a kind that is defined elsewhere: see `foreignResource`. */
  readonly foreign?: true;
}

/** The parsed spec of a resource: defaults are applied. */
export type SpecOf<R extends Resource> = z.output<R["spec"]>;
/** The author's part of a resource's status. */
export type StatusOf<R extends Resource> = z.output<R["status"]>;
/** The status as stored in the cluster. */
export type ObjectStatus<R extends Resource> = Partial<StatusOf<R>> & {
  readonly observedGeneration?: number;
  readonly conditions?: readonly StatusCondition[];
};

/** The part of an object's metadata that controllers use. */
export interface ObjectMetadata {
  readonly name: string;
  readonly namespace?: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly finalizers?: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly OwnerReference[];
}

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

/**
 * Defines a kind: types, CRD and validation come from its zod schemas.
 *
 * @throws InvalidResourceError for a name or a printer column that Kubernetes does not accept.
 */
export function defineResource<Spec extends z.ZodObject, Status extends z.ZodObject>(
  definition: ResourceDefinition<Spec, Status>,
): Resource<Spec, Status> {
  const { group, version, kind } = definition;
  const singular = kind.toLowerCase();
  const resource = {
    ...definition,
    singular,
    plural: definition.plural ?? pluralOf(kind),
    apiVersion: `${group}/${version}`,
  };
  const problem = nameProblem(resource) ?? columnProblem(definition.printerColumns ?? []);
  if (problem !== undefined) throw new InvalidResourceError(kind, problem);
  return resource;
}

/**
 * A kind that is defined elsewhere, such as a kind of Kubernetes. The schemas describe the fields that the function
 * reads, as loose objects; no CRD is generated from them. The runtime does not write its status, neither conditions nor
 * an observed generation, and refuses `status` and `conditions` from `reconcile`. Failures appear in logs, metrics and
 * the queue.
 */
export function foreignResource<Spec extends z.ZodObject, Status extends z.ZodObject>(
  definition: Pick<
    ResourceDefinition<Spec, Status>,
    "group" | "version" | "kind" | "scope" | "plural" | "spec" | "status"
  >,
): Resource<Spec, Status> {
  const { group, version, kind } = definition;
  const singular = kind.toLowerCase();
  const apiVersion = group === "" ? version : `${group}/${version}`;
  return { ...definition, singular, plural: definition.plural ?? pluralOf(kind), apiVersion, foreign: true };
}

/** The plural of a kind, in lower case, by the usual English endings: `policies`, `classes`, `gateways`. */
export function pluralOf(kind: string): string {
  const singular = kind.toLowerCase();
  if (/[^aeiou]y$/.test(singular)) return `${singular.slice(0, -1)}ies`;
  return /(s|x|z|ch|sh)$/.test(singular) ? `${singular}es` : `${singular}s`;
}

/** An RFC 1035 label, as Kubernetes requires for versions and plurals of kinds. */
export const dnsLabel = /^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/;

/** Why Kubernetes would not accept the names (`ValidateCustomResourceDefinition`); undefined if it would. */
function nameProblem(resource: Omit<Resource, "spec" | "status">): string | undefined {
  const { group, version, kind, plural, shortNames = [], categories = [] } = resource;
  if (!/^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+$/.test(group)) {
    return `group ${JSON.stringify(group)} is not a DNS name such as "s3.example.com".`;
  }
  if (/(^|\.)(k8s|kubernetes)\.io$/.test(group)) {
    return `group ${JSON.stringify(group)} is reserved for Kubernetes itself; take a domain of your own.`;
  }
  if (!/^v[1-9]\d*((alpha|beta)[1-9]\d*)?$/.test(version)) {
    return `version ${JSON.stringify(version)} is not like "v1", "v1beta1", "v1alpha1".`;
  }
  if (!/^[A-Z][A-Za-z0-9]{0,62}$/.test(kind)) {
    return "a kind is one CamelCase word of at most 63 letters and digits.";
  }
  const bad = [plural, ...shortNames, ...categories].find((name) => !dnsLabel.test(name));
  return bad === undefined
    ? undefined
    : `${JSON.stringify(bad)} is not a plural, short name or category; use lower-case letters, digits and "-", 63 at most.`;
}

function columnProblem(columns: readonly PrinterColumn[]): string | undefined {
  const bad = columns.find(({ name, jsonPath }) => name === "" || !jsonPath.startsWith("."));
  return bad === undefined
    ? undefined
    : `printer column ${JSON.stringify(bad.name)} has the path ${JSON.stringify(bad.jsonPath)}; give it a name, and a path such as ".spec.region".`;
}

/** A definition that Kubernetes would not accept. */
export class InvalidResourceError extends Error {
  override readonly name = "InvalidResourceError";
  constructor(kind: string, problem: string) {
    super(`Resource ${JSON.stringify(kind)}: ${problem}`);
  }
}
