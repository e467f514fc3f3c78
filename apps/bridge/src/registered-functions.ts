import { type Log, type ObjectKey, ReconcileFunction } from "@drover/controller";
import type { KubeClient, KubeObject, Reflector } from "@drover/kube";
import {
  type Authors,
  type DeclaredFunction,
  declaredFunctions,
  followDeclaredFunctions,
  followPermits,
  type Permits,
} from "@drover/runtime";
import { isDeepStrictEqual } from "node:util";
import { withoutTakenHooks } from "./hooks/taken-names.ts";
import { InvalidRegistrationError } from "@drover/streams";
import { type Registration, registrationOf } from "./registration.ts";
import { wantedCampaign } from "./wanted-campaign.ts";

/** A ReconcileFunction of the cluster: what it registers, or why it does not. */
export interface RegisteredFunction {
  readonly key: ObjectKey;
  readonly object: KubeObject;
  readonly registration?: Registration;
  readonly problem?: string;
}

/** The ReconcileFunctions of the cluster, as they come, change and go. */
export interface RegisteredFunctions {
  readonly reflector: Reflector;
  all(): readonly RegisteredFunction[];
}

export interface FollowOptions {
  readonly authors: Authors;
  /** The deployer's namespace, where permits are. */
  readonly namespace: string;
  readonly client: KubeClient;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** Called when all functions are known, and with every change from then on. */
  readonly onChange: (registrations: readonly Registration[]) => void;
}

/**
 * With authors `checked`, a function registers what its permit allows. While it asks for something else it stays registered
 * as it was; without a permit it is not registered.
 */
export function followFunctions({
  authors,
  namespace,
  onChange,
  ...options
}: FollowOptions): RegisteredFunctions {
  let declared: readonly DeclaredFunction[] | undefined;
  let functions: readonly RegisteredFunction[] = [];
  let registrations: readonly Registration[] | undefined;
  const update = (): void => {
    if (declared === undefined || permits?.synced() === false) return;
    const known = new Map(functions.map((one) => [one.object.metadata.uid, one.registration]));
    functions = withoutTakenHooks(
      declared.map((one) => (isAllowed(permits, one) ? registered(one) : heldAs(permits, one, known))),
    );
    const next = functions.flatMap(({ registration }) => registration ?? []);
    // Most changes are those of a status.
    if (isDeepStrictEqual(next, registrations)) return;
    registrations = next;
    onChange(next);
  };
  const permits =
    authors === "trusted" ? undefined : followPermits({ ...options, namespace, onChange: () => update() });
  const { reflector } = followDeclaredFunctions({
    ...options,
    onChange(next) {
      declared = next;
      update();
    },
  });
  return {
    reflector: permits === undefined ? reflector : bothReflectors(reflector, permits.reflector),
    all: () => functions,
  };
}

const isAllowed = (permits: Permits | undefined, { object, spec }: DeclaredFunction): boolean =>
  permits === undefined || spec === undefined || permits.allows(object, spec, "followed");

/** Ready when both are; the first that is not says why. */
const bothReflectors = (functions: Reflector, permits: Reflector): Reflector => ({
  done: Promise.all([functions.done, permits.done]).then(() => undefined),
  status: () => (functions.status().synced ? permits.status() : functions.status()),
});

/** Of several of one name, the controller's or a hook's, the oldest is in use; the others are told so. */
export const registeredFunctions = (
  objects: ReadonlyMap<ObjectKey, KubeObject>,
): readonly RegisteredFunction[] => withoutTakenHooks(declaredFunctions(objects).map(registered));

function heldAs(
  permits: Permits | undefined,
  { key, object }: DeclaredFunction,
  known: ReadonlyMap<string, Registration | undefined>,
): RegisteredFunction {
  const registration =
    permits?.has(object.metadata.uid) === true ? known.get(object.metadata.uid) : undefined;
  return registration === undefined ? { key, object } : { key, object, registration };
}

function registered({ key, object, spec, problem }: DeclaredFunction): RegisteredFunction {
  if (spec === undefined) return { key, object, problem };
  const { name, uid, namespace } = object.metadata;
  try {
    const { data: status = {} } = ReconcileFunction.status.safeParse(object["status"] ?? {});
    const wanted = { ...spec, campaign: wantedCampaign(spec, status) };
    return { key, object, registration: registrationOf(name, uid, wanted, namespace) };
  } catch (error) {
    if (!(error instanceof InvalidRegistrationError)) throw error;
    return { key, object, problem: error.message };
  }
}
