import {
  calledAccess,
  followedAccess,
  type Log,
  type ObjectMetadata,
  type ReconcileFunctionSpec,
  usedAccess,
} from "@drover/controller";
import { builtin, isObjectEvent, type KubeClient, type KubeObject, runReflector } from "@drover/kube";
import { createHash } from "node:crypto";
import { z } from "zod";
import { authorOf } from "./authors.ts";

/**
 * A permit says what the author of a function was allowed when the deployer reviewed it last. It is a ConfigMap
 * `permit-<uid of the function>` in the deployer's own namespace, where only the deployer writes: the status of a function
 * and Redis prove nothing, since others write there. Bridge and gateway do for a function only what its permit says.
 */
export const permitName = (uid: string): string => `permit-${uid}`;
export const permitLabel = "drover.dev/permit";

/** Fingerprints of what bridge and gateway do for a function. */
export interface PermittedUse {
  /** The kinds that the bridge follows, and the Secrets that it compares hook events with. */
  readonly followed: string;
  /** The objects that the gateway sends, on whose behalf, and to which address. */
  readonly called: string;
}

/** The fingerprints of what a function asks for. */
export function useAskedFor(metadata: ObjectMetadata, spec: ReconcileFunctionSpec): PermittedUse {
  const { namespace = "" } = metadata;
  return {
    // Without the author: a change of the image by another author takes nothing away that was permitted.
    followed: whole([followedAccess(spec), usedAccess({ ...spec, container: undefined }, namespace)]),
    called: whole([authorOf(metadata), calledAccess(spec), spec.webhook]),
  };
}

/** Not shortened: an author must not find two requests with one fingerprint. */
const whole = (values: readonly unknown[]): string =>
  createHash("sha256").update(JSON.stringify(values)).digest("base64url");

/** The permits that there are now, by the uid of their function. */
export interface Permits {
  /** False until all permits are listed once. */
  readonly synced: () => boolean;
  /** Whether the function has a permit, for whatever. */
  readonly has: (uid: string) => boolean;
  /** Whether what a function asks for is what was permitted. */
  readonly allows: (object: KubeObject, spec: ReconcileFunctionSpec, use: keyof PermittedUse) => boolean;
}

const permitSchema = z.looseObject({
  data: z.looseObject({ uid: z.string(), followed: z.string(), called: z.string() }),
});

/** Where a process finds permits. */
export interface PermitsOptions {
  readonly client: KubeClient;
  /** The deployer's namespace. */
  readonly namespace: string;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** Called when all permits are known, and with every change from then on. */
  readonly onChange: () => void;
}

/** Watches the permits. `done` resolves when the signal has ended the watch. */
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
      permitOf(object.metadata.uid)?.[use] === useAskedFor(object.metadata, spec)[use],
  };
  return { ...permits, reflector };
}

/** Questions that an API server is asked at once. */
const atOnce = 8;

/** Those of what is needed that are denied, in their order. A caller that takes only the first asks no more than that needs. */
export async function* deniedOf<Access>(
  needed: readonly Access[],
  isAllowed: (access: Access) => Promise<boolean>,
): AsyncGenerator<Access> {
  for (let i = 0; i < needed.length; i += atOnce) {
    const some = needed.slice(i, i + atOnce);
    const answers = await Promise.all(some.map(isAllowed));
    yield* some.filter((_, index) => answers[index] === false);
  }
}
