import { ReconcileFunction } from "@drover/controller";
import type { Reflector } from "@drover/kube";
import {
  type DeclaredFunction,
  followPermittedFunctions,
  type Permits,
  type PermittedFunctionsOptions,
} from "@drover/runtime";
import { isDeepStrictEqual } from "node:util";
import { InvalidRegistrationError } from "./invalid-registration.ts";
import { refuseNamesakes } from "./namesakes.ts";
import { type RegisteredFunction, type Registration, registrationOf } from "./registration.ts";
import { wantedCampaign, wantedRetries } from "../campaigns/wanted-campaign.ts";

/** The current ReconcileFunctions of the cluster. */
export interface RegisteredFunctions {
  readonly reflector: Reflector;
  all(): readonly RegisteredFunction[];
}

export interface FollowFunctionsOptions extends Omit<PermittedFunctionsOptions, "onChange"> {
  /** Called when all functions are known, and on every change from then on. */
  readonly onChange: (registrations: readonly Registration[]) => void;
}

/**
 * With authors `checked`, a function registers only what its permit allows. While its spec asks for more than that, it
 * keeps its last registration; without a permit it is not registered.
 */
export function followFunctions({ onChange, ...options }: FollowFunctionsOptions): RegisteredFunctions {
  let functions: readonly RegisteredFunction[] = [];
  let registrations: readonly Registration[] | undefined;
  const reflector = followPermittedFunctions({
    ...options,
    onChange(declared, permits) {
      const known = new Map(functions.map((one) => [one.object.metadata.uid, one.registration]));
      functions = refuseNamesakes(
        declared.map((one) =>
          isAllowed(permits, one) ? registeredFunction(one) : keptAs(permits, one, known),
        ),
      );
      const next = functions.flatMap(({ registration }) => registration ?? []);
      // Most changes affect only the status.
      if (isDeepStrictEqual(next, registrations)) return;
      registrations = next;
      onChange(next);
    },
  });
  return { reflector, all: () => functions };
}

const isAllowed = (permits: Permits | undefined, { object, spec }: DeclaredFunction): boolean =>
  permits === undefined || spec === undefined || permits.allows(object, spec, "followed");

function keptAs(
  permits: Permits | undefined,
  { key, object }: DeclaredFunction,
  known: ReadonlyMap<string, Registration | undefined>,
): RegisteredFunction {
  const registration =
    permits?.has(object.metadata.uid) === true ? known.get(object.metadata.uid) : undefined;
  return registration === undefined ? { key, object } : { key, object, registration };
}

/** Reads a function's registration from its spec; `problem` is set if the spec cannot be used. */
export function registeredFunction({ key, object, spec, problem }: DeclaredFunction): RegisteredFunction {
  if (spec === undefined) return { key, object, problem };
  const { name, uid, namespace } = object.metadata;
  try {
    const { data: status = {} } = ReconcileFunction.status.safeParse(object["status"] ?? {});
    const wanted = { ...spec, campaign: wantedCampaign(spec, status) };
    const registration = registrationOf({ namespace, name, uid }, wanted);
    return { key, object, registration: { ...registration, retries: wantedRetries(spec, status) } };
  } catch (error) {
    if (!(error instanceof InvalidRegistrationError)) throw error;
    return { key, object, problem: error.message };
  }
}
