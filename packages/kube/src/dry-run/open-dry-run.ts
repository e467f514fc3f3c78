import type { CreateOptions, KubeClient, NewObject, Patch } from "../client/client.ts";
import { isApiError } from "../errors.ts";
import { keyOf, type KubeObject, kubeObjectSchema } from "../objects/kube-object.ts";
import { mergePatch } from "../objects/merge-patch.ts";
import {
  type DryRunLog,
  type DryRunSubject,
  type DryRunWrite,
  objectAfter,
  openDryRunLog,
} from "./dry-run-log.ts";

/** A client for trying a run, and what the run would have written. */
export interface DryRun {
  /** Sends every write as a dry run: the API server admits, defaults and validates it, and stores nothing. */
  readonly client: KubeClient;
  /** The writes so far, in their order. */
  readonly writes: readonly DryRunWrite[];
  /** Why the run could be followed no further, as a sentence; undefined if it could. */
  readonly end: () => string | undefined;
  /** Ends the dry run for a reason that its client does not see. @throws DryRunEndError */
  readonly stop: (why: string) => never;
}

/**
 * Opens a client for trying a run.
 *
 * Guarantees: the API server stores nothing. Up to `end`, a run makes the same requests with this client as with
 * `client` at this moment. So the dry run ends as soon as the run uses an object that an earlier write would have
 * changed: then it reads or lists such an object, or writes one that would not exist any more, or does not exist yet.
 */
export function openDryRun(client: KubeClient, subject: DryRunSubject): DryRun {
  const log = openDryRunLog(subject);
  const { writes, end, stop } = log;
  return { client: dryRunView({ client, log, isStored: subject.isStored }), writes, end, stop };
}

interface ViewParts {
  readonly client: KubeClient;
  readonly log: DryRunLog;
  /** True if the API server has the object of the run. */
  readonly isStored: boolean;
}

function dryRunView(parts: ViewParts): KubeClient {
  const { client, log } = parts;
  return {
    get: async (ref, key, options) => {
      const own = log.own(ref, key);
      if (own !== undefined) return own;
      log.beforeRead(ref, key);
      return client.get(ref, key, options);
    },
    list: async (ref, options) => {
      log.beforeList(ref, options?.namespace);
      return client.list(ref, options);
    },
    find: async (ref, options) => {
      log.beforeList(ref, options?.namespace);
      return client.find(ref, options);
    },
    isServed: (ref, options) => client.isServed(ref, options),
    serverVersion: (options) => client.serverVersion(options),
    create: (ref, object, options = {}) =>
      tryWrite(parts, { verb: "create", ref, key: keyOf(object), options }, (dry) =>
        client.create(ref, object, { ...options, ...dry }),
      ),
    replace: (ref, object, options = {}) =>
      tryWrite(
        parts,
        { verb: "replace", ref, key: keyOf(object), options, change: (own) => replaced(own, object) },
        (dry) => client.replace(ref, object, { ...options, ...dry }),
      ),
    patch: (ref, key, patch, options = {}) =>
      tryWrite(parts, { verb: "patch", ref, key, options, change: (own) => patched(own, patch) }, (dry) =>
        client.patch(ref, key, patch, { ...options, ...dry }),
      ),
    apply: (ref, object, options = {}) =>
      tryWrite(parts, { verb: "apply", ref, key: keyOf(object), options }, (dry) =>
        client.apply(ref, object, { ...options, ...dry }),
      ),
    delete: (ref, key, options = {}) =>
      tryWrite(parts, { verb: "delete", ref, key, options }, (dry) =>
        client.delete(ref, key, { ...options, ...dry }),
      ),
    bind: ({ name }) => log.stop(`The run would bind the Pod ${name}, which has no dry run.`),
    review: (ref, spec, options) => client.review(ref, spec, options),
    callPod: (pod) => log.stop(`The run would call the Pod ${pod}, which has no dry run.`),
    podLog: (pod, log) => client.podLog(pod, log),
    watch: (ref, options) => client.watch(ref, options),
    guarded: (guard) => dryRunView({ ...parts, client: client.guarded(guard) }),
    as: (account) => dryRunView({ ...parts, client: client.as(account) }),
    close: () => client.close(),
  };
}

interface TriedWrite extends Pick<DryRunWrite, "verb" | "ref" | "key"> {
  readonly options: CreateOptions & { readonly subresource?: DryRunWrite["subresource"] };
  /** The run's own object after the write, for one that the API server does not have. */
  readonly change?: (own: KubeObject) => KubeObject | undefined;
}

async function tryWrite<Answer extends KubeObject | boolean>(
  { client, log, isStored }: ViewParts,
  { verb, ref, key, options, change }: TriedWrite,
  send: (dry: { readonly dryRun: true }) => Promise<Answer>,
): Promise<Answer> {
  log.beforeWrite(ref, key);
  // The function's own dry run.
  if (options.dryRun === true) return send({ dryRun: true });
  const own = log.own(ref, key);
  const write = {
    verb,
    ref,
    key,
    subresource: options.subresource,
    before: own ?? (await client.get(ref, key)),
  };
  if (own !== undefined && !isStored) {
    const after =
      change?.(own) ??
      log.stop(`The run would ${verb} its own object, which is not stored as it is planned.`);
    log.record({ ...write, after });
    return (log.own(ref, key) ?? after) as Answer;
  }
  try {
    const answer = await send({ dryRun: true });
    // The deletion of an object that does not exist changes nothing.
    if (answer !== false)
      log.record({ ...write, after: typeof answer === "object" ? objectAfter(answer, write) : undefined });
    return answer;
  } catch (error) {
    if (isApiError(error)) log.record({ ...write, after: undefined, refusal: error });
    throw error;
  }
}

const replaced = (own: KubeObject, object: NewObject): KubeObject =>
  kubeObjectSchema.parse({ ...own, ...object, metadata: { ...own.metadata, ...object.metadata } });

const patched = (own: KubeObject, { type, body }: Patch): KubeObject | undefined =>
  type === "merge" ? kubeObjectSchema.parse(mergePatch(own, body)) : undefined;
