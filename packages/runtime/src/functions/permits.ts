import {
  gatewayAccess,
  bridgeAccess,
  type Log,
  type ObjectMetadata,
  type ReconcileFunctionSpec,
  implicitAccess,
} from "@drover/controller";
import { builtin, isObjectEvent, type KubeClient, type KubeObject, runReflector } from "@drover/kube";
import { createHash } from "node:crypto";
import { z } from "zod";
import { authorOf } from "./authors.ts";

/**
 * A permit records what the author of a function was allowed when the deployer last reviewed it. It is a ConfigMap
 * `permit-<uid of the function>` in the deployer's own namespace, where only the deployer writes. The status of a
 * function and Redis prove nothing, since other clients write there. Bridge and gateway do for a function only what its
 * permit allows.
 */
export const permitName = (uid: string): string => `permit-${uid}`;
export const permitLabel = "drover.dev/permit";

/** Fingerprints of what bridge and gateway do for a function. */
export interface PermittedUse {
  /** The kinds that the bridge watches, and the Secrets that it verifies hook events with. */
  readonly followed: string;
  /** The objects that the gateway sends, their author, and the address. */
  readonly called: string;
}

/** The fingerprints of what a function requests. */
export function requestedUse(metadata: ObjectMetadata, spec: ReconcileFunctionSpec): PermittedUse {
  const { namespace = "" } = metadata;
  return {
    // Without the author: if another author changes the image, this permission stays.
    followed: fingerprintOf([
      bridgeAccess(spec),
      implicitAccess({ ...spec, container: undefined }, namespace),
    ]),
    called: fingerprintOf([authorOf(metadata), gatewayAccess(spec), spec.webhook]),
  };
}

/** Not shortened, so that an author cannot construct two requests with the same fingerprint. */
const fingerprintOf = (values: readonly unknown[]): string =>
  createHash("sha256").update(JSON.stringify(values)).digest("base64url");

/** The existing permits, by the uid of their function. */
export interface Permits {
  /** False until all permits have been listed once. */
  readonly synced: () => boolean;
  /** True if the function has a permit, for any use. */
  readonly has: (uid: string) => boolean;
  /** True if the function requests exactly what was permitted. */
  readonly allows: (object: KubeObject, spec: ReconcileFunctionSpec, use: keyof PermittedUse) => boolean;
}

const permitSchema = z.looseObject({
  data: z.looseObject({ uid: z.string(), followed: z.string(), called: z.string() }),
});

export interface PermitsOptions {
  readonly client: KubeClient;
  /** The deployer's namespace. */
  readonly namespace: string;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** Called when all permits are known, and with every change after that. */
  readonly onChange: () => void;
}

/** Watches the permits. `reflector.done` resolves when the signal has ended the watch. */
export function followPermits({ client, namespace, log, signal, onChange }: PermitsOptions) {
  const byName = new Map<string, PermittedUse>();
  let synced = false;
  const reflector = runReflector({
    client,
    ref: builtin.configMap,
    namespace,
    labelSelector: permitLabel,
    metadataOnly: false,
    signal,
    log,
    onEvents(events) {
      for (const event of events) {
        if (event.type === "synced") synced = true;
        if (!isObjectEvent(event)) continue;
        const { data } = permitSchema.safeParse(event.type === "deleted" ? undefined : event.object);
        if (data === undefined) byName.delete(event.key);
        else byName.set(event.key, data.data);
      }
      if (synced) onChange();
    },
  });
  const permitOf = (uid: string): PermittedUse | undefined => byName.get(`${namespace}/${permitName(uid)}`);
  const permits: Permits = {
    synced: () => synced,
    has: (uid) => permitOf(uid) !== undefined,
    allows: (object, spec, use) =>
      permitOf(object.metadata.uid)?.[use] === requestedUse(object.metadata, spec)[use],
  };
  return { ...permits, reflector };
}

/** Access checks that are sent to the API server at once. */
const maxConcurrentChecks = 8;

/**
 * The accesses in `needed` that are denied, in their order. A caller that takes only the first one causes no more
 * checks than that needs.
 */
export async function* deniedAccesses<Access>(
  needed: readonly Access[],
  isAllowed: (access: Access) => Promise<boolean>,
): AsyncGenerator<Access> {
  for (let i = 0; i < needed.length; i += maxConcurrentChecks) {
    const some = needed.slice(i, i + maxConcurrentChecks);
    const answers = await Promise.all(some.map(isAllowed));
    yield* some.filter((_, index) => answers[index] === false);
  }
}
