import { type Log, type ObjectKey, ReconcileFunction } from "@drover/controller";
import type { KubeClient, KubeObject, Reflector } from "@drover/kube";
import {
  type Authors,
  type DeclaredFunction,
  declaredFunctions,
  followDeclaredFunctions,
  isPermitted,
} from "@drover/runtime";
import { isDeepStrictEqual } from "node:util";
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

/**
 * @param authors `checked`: a function registers what the deployer has permitted. Until it has, it is registered as it
 *   was, if it was.
 * @param onChange called when all that are there are known, and with every change from then on.
 */
export function followFunctions({
  authors,
  onChange,
  ...options
}: {
  authors: Authors;
  client: KubeClient;
  log: Log;
  signal: AbortSignal;
  onChange: (registrations: readonly Registration[]) => void;
}): RegisteredFunctions {
  let functions: readonly RegisteredFunction[] = [];
  let registrations: readonly Registration[] | undefined;
  const { reflector } = followDeclaredFunctions({
    ...options,
    onChange(declared) {
      const known = new Map(functions.map((one) => [one.object.metadata.uid, one.registration]));
      functions = declared.map((one) =>
        authors === "trusted" || one.spec === undefined || isPermitted(one.object, one.spec, "followed")
          ? registered(one)
          : heldAs(one, known.get(one.object.metadata.uid)),
      );
      const next = functions.flatMap(({ registration }) => registration ?? []);
      // Most changes are those of a status.
      if (isDeepStrictEqual(next, registrations)) return;
      registrations = next;
      onChange(next);
    },
  });
  return { reflector, all: () => functions };
}

/** What each of these objects registers. */
export const registeredFunctions = (
  objects: ReadonlyMap<ObjectKey, KubeObject>,
): readonly RegisteredFunction[] => declaredFunctions(objects).map(registered);

const heldAs = ({ key, object }: DeclaredFunction, known: Registration | undefined): RegisteredFunction =>
  known === undefined ? { key, object } : { key, object, registration: known };

function registered({ key, object, spec, problem }: DeclaredFunction): RegisteredFunction {
  if (spec === undefined) return { key, object, problem };
  const { name, uid, namespace } = object.metadata;
  try {
    const { data: status = {} } = ReconcileFunction.status.safeParse(object["status"] ?? {});
    const wanted = { ...spec, campaign: wantedCampaign(spec, status) };
    return { key, object, registration: registrationOf({ namespace, name, uid }, wanted) };
  } catch (error) {
    if (!(error instanceof InvalidRegistrationError)) throw error;
    return { key, object, problem: error.message };
  }
}
