import {
  type FieldPath,
  type FunctionIdentity,
  hookPathOf,
  type HookDeclaration,
  queueOf,
  type ReconcileFunctionSpec,
} from "@drover/controller";
import { refOf, type ResourceRef } from "@drover/kube";
import { parseDeclaredPath } from "../mapping/parse-declared-path.ts";
import { InvalidRegistrationError } from "../registration/invalid-registration.ts";

/** A hook as a registration declares it: how its events are verified, and which keys they wake. */
export interface Hook {
  readonly name: string;
  /** `<namespace>/<function>/<name>`: events are sent to `/hooks/` followed by this. */
  readonly address: string;
  /** The queue of its function. */
  readonly controller: string;
  /** The namespace of the function and of its Secrets; undefined if a file registered it. */
  readonly functionNamespace: string | undefined;
  readonly for: ResourceRef;
  readonly secretRef: SecretRef;
  readonly verify: Verification;
  /**
   * Where an event carries its id, if the signature does not cover one. Without an id, repetitions are not detected.
   */
  readonly id: EventLocation | undefined;
  readonly names: EventLocation;
  /**
   * If set, an event names a value, and wakes the objects that hold it at this path. If undefined, it names the
   * objects.
   */
  readonly heldBy: FieldPath | undefined;
  /**
   * The namespace of the named objects. If undefined, an event names `namespace/name`, or `name` for a cluster-scoped
   * kind.
   */
  readonly namespace: string | undefined;
  /** Namespaces in which it may wake keys. Undefined: all, and cluster-scoped kinds. */
  readonly reach: readonly string[] | undefined;
}

export interface SecretRef {
  readonly name: string;
  readonly key: string;
}

/** How an event is verified. */
export type Verification =
  { readonly by: "standardWebhooks" } | ({ readonly by: "hmac" } & HmacFormat) | { readonly by: "bearer" };

/** How a signature is computed and encoded. */
export interface HmacFormat {
  readonly header: string;
  readonly algorithm: "sha256" | "sha512";
  readonly prefix: string;
  readonly encoding: "hex" | "base64";
}

/** A place in an event. */
export type EventLocation = { readonly header: string } | { readonly field: FieldPath };

/** @throws InvalidRegistrationError naming the field. */
export function hooksOf(spec: ReconcileFunctionSpec, owner: FunctionIdentity): readonly Hook[] {
  const hooks = (spec.hooks ?? []).map((declared, i) =>
    hookOf(declared, spec.for, owner, `spec.hooks[${i}]`),
  );
  for (const [i, { name, secretRef }] of hooks.entries()) {
    const earlier = hooks.slice(0, i);
    if (earlier.some((other) => other.name === name)) {
      throw new InvalidRegistrationError(`spec.hooks[${i}].name: there is another hook ${name}. Rename one.`);
    }
    if (earlier.some(({ secretRef: { name: of, key } }) => of === secretRef.name && key === secretRef.key)) {
      throw new InvalidRegistrationError(
        `spec.hooks[${i}].verify: another hook has the same secret, and would accept events that were sent to this one. ` +
          `Give each a secret of its own.`,
      );
    }
  }
  return hooks;
}

function hookOf(
  { name, verify, id, names }: HookDeclaration,
  own: ReconcileFunctionSpec["for"],
  owner: FunctionIdentity,
  at: string,
): Hook {
  const verification = verificationOf(verify, `${at}.verify`);
  const { by } = verification.verify;
  if (id !== undefined && by === "standardWebhooks") {
    throw new InvalidRegistrationError(`${at}.id: standardWebhooks have an id, webhook-id. Leave it out.`);
  }
  if (names.header !== undefined && by !== "bearer") {
    throw new InvalidRegistrationError(
      `${at}.names.header: ${by} does not sign this header, so it could be changed on the way. Name a field of the body.`,
    );
  }
  return {
    name,
    address: hookPathOf(owner, name),
    controller: queueOf(owner),
    functionNamespace: owner.namespace,
    for: refOf(own),
    ...verification,
    id: id && eventLocationOf(id, `${at}.id`),
    names: eventLocationOf(names, `${at}.names`),
    heldBy: heldByOf(names, `${at}.names`),
    namespace: names.namespace,
    reach: reachOf(names, own, owner.namespace, `${at}.names`),
  };
}

function verificationOf(
  { standardWebhooks, hmac, bearer }: HookDeclaration["verify"],
  at: string,
): { readonly secretRef: SecretRef; readonly verify: Verification } {
  const given = [
    ...(standardWebhooks === undefined
      ? []
      : [{ secretRef: standardWebhooks.secretRef, verify: { by: "standardWebhooks" } as const }]),
    ...(hmac === undefined ? [] : [hmacOf(hmac)]),
    ...(bearer === undefined ? [] : [{ secretRef: bearer.secretRef, verify: { by: "bearer" } as const }]),
  ];
  const [only] = given;
  if (only === undefined || given.length > 1) {
    throw new InvalidRegistrationError(`${at}: give exactly one of standardWebhooks, hmac and bearer.`);
  }
  return only;
}

const hmacOf = ({ secretRef, prefix = "", ...form }: NonNullable<HookDeclaration["verify"]["hmac"]>) => ({
  secretRef,
  verify: { by: "hmac", ...form, prefix } as const,
});

function eventLocationOf(
  { header, field }: { readonly header?: string | undefined; readonly field?: string | undefined },
  at: string,
): EventLocation {
  if ((header === undefined) === (field === undefined)) {
    throw new InvalidRegistrationError(`${at}: give exactly one of field and header.`);
  }
  return field === undefined ? { header: header ?? "" } : { field: parseDeclaredPath(field, `${at}.field`) };
}

function heldByOf({ heldBy, namespace }: HookDeclaration["names"], at: string): FieldPath | undefined {
  if (heldBy !== undefined && namespace !== undefined) {
    throw new InvalidRegistrationError(
      `${at}.namespace: with heldBy an event contains a value, and no object names that could need a namespace. Leave it out.`,
    );
  }
  return heldBy === undefined ? undefined : parseDeclaredPath(heldBy, `${at}.heldBy`);
}

/**
 * The sender of an event for a function in one namespace must not have an effect in another, unless that is granted.
 */
function reachOf(
  { namespace, acrossNamespaces = false }: HookDeclaration["names"],
  { scope, namespaces }: ReconcileFunctionSpec["for"],
  functionNamespace: string | undefined,
  at: string,
): readonly string[] | undefined {
  const free = acrossNamespaces || functionNamespace === undefined;
  if (scope === "Cluster") {
    if (namespace !== undefined) {
      throw new InvalidRegistrationError(`${at}.namespace: a cluster-scoped kind has none. Leave it out.`);
    }
    if (!free) {
      throw new InvalidRegistrationError(
        `${at}: objects of a cluster-scoped kind are in no namespace, so also not in that of the function. Give acrossNamespaces: true.`,
      );
    }
    return undefined;
  }
  const reach = free ? namespaces : [functionNamespace].filter((each) => namespaces?.includes(each) ?? true);
  if (namespace !== undefined && !(reach?.includes(namespace) ?? true)) {
    throw new InvalidRegistrationError(
      `${at}.namespace: this hook may not wake objects in the namespace ${namespace}. Give acrossNamespaces: true, and leave ` +
        `spec.for.namespaces out or name it there.`,
    );
  }
  return reach;
}
