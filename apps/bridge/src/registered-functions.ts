import { type Log, type ObjectKey, ReconcileFunction } from "@drover/controller";
import {
  isObjectEvent,
  type KubeClient,
  type KubeObject,
  type Reflector,
  type ReflectorEvent,
  refOf,
  runReflector,
} from "@drover/kube";
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { withoutTakenHooks } from "./hooks/taken-names.ts";
import { InvalidRegistrationError, type Registration, registrationOf } from "./registration.ts";
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

/** @param onChange called when all that are there are known, and with every change from then on. */
export function followFunctions({
  client,
  log,
  signal,
  onChange,
}: {
  client: KubeClient;
  log: Log;
  signal: AbortSignal;
  onChange: (registrations: readonly Registration[]) => void;
}): RegisteredFunctions {
  const objects = new Map<ObjectKey, KubeObject>();
  let synced = false;
  let functions: readonly RegisteredFunction[] = [];
  let registrations: readonly Registration[] | undefined;
  const take = (event: ReflectorEvent): void => {
    if (event.type === "synced") synced = true;
    if (!isObjectEvent(event)) return;
    if (event.type === "deleted" || event.object === undefined) objects.delete(event.key);
    else objects.set(event.key, event.object);
  };
  const onEvents = (events: readonly ReflectorEvent[]): void => {
    events.forEach(take);
    if (!synced) return;
    functions = registered(objects);
    const next = functions.flatMap(({ registration }) => registration ?? []);
    // Most changes are those of a status.
    if (isDeepStrictEqual(next, registrations)) return;
    registrations = next;
    onChange(next);
  };
  const reflector = runReflector({
    ...{ client, ref: refOf(ReconcileFunction), metadataOnly: false, signal, log, onEvents },
  });
  return { reflector, all: () => functions };
}

/** Of several of one name, the controller's or a hook's, the oldest is in use; the others are told so. */
export function registered(objects: ReadonlyMap<ObjectKey, KubeObject>): readonly RegisteredFunction[] {
  const oldestFirst = [...objects].sort(([a, x], [b, y]) => (`${born(x)} ${a}` < `${born(y)} ${b}` ? -1 : 1));
  const taken = new Map<string, ObjectKey>();
  const functions = oldestFirst.map(([key, object]): RegisteredFunction => {
    const { name } = object.metadata;
    const holder = taken.get(name);
    if (holder !== undefined) {
      const problem = `The controller's name ${name} is taken by ${holder}. Rename or remove one of them.`;
      return { key, object, problem };
    }
    taken.set(name, key);
    return { key, object, ...registrationIn(object) };
  });
  return withoutTakenHooks(functions);
}

const born = ({ metadata }: KubeObject): string => metadata.creationTimestamp ?? "";

function registrationIn({
  metadata,
  ...object
}: KubeObject): Pick<RegisteredFunction, "registration" | "problem"> {
  const parsed = ReconcileFunction.spec.safeParse(object["spec"]);
  if (!parsed.success) return { problem: z.prettifyError(parsed.error) };
  try {
    const { data: status = {} } = ReconcileFunction.status.safeParse(object["status"] ?? {});
    const campaign = wantedCampaign(parsed.data, status);
    const { name, uid, namespace } = metadata;
    return { registration: registrationOf(name, uid, { ...parsed.data, campaign }, namespace) };
  } catch (error) {
    if (!(error instanceof InvalidRegistrationError)) throw error;
    return { problem: error.message };
  }
}
