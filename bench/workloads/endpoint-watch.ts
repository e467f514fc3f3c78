import { z } from "zod";
import type { Api } from "../bridge/cluster/api.ts";
import { followWatch } from "../bridge/cluster/follow-watch.ts";

const slice = z.object({
  metadata: z.object({
    namespace: z.string(),
    name: z.string(),
    labels: z.record(z.string(), z.string()).default({}),
  }),
  endpoints: z
    .array(
      z.object({
        conditions: z.object({ ready: z.boolean().optional() }).default({}),
        targetRef: z.object({ uid: z.string() }).optional(),
      }),
    )
    .nullish(),
});

/** The judge of Services: the API server's events about their slices, the same for every contestant. */
export interface EndpointWatch {
  /** Resolves once the slices of a Service have exactly these pods, all ready. Rejects when the watch cannot go on. */
  serves(namespace: string, service: string, uids: ReadonlySet<string>): Promise<void>;
  stop(): void;
}

/** Follows the EndpointSlices of all Services. */
export function watchEndpoints(api: Api): EndpointWatch {
  /** By Service, then by slice: its pods. Undefined where one is not ready. */
  const services = new Map<string, Map<string, readonly (string | undefined)[]>>();
  const waiting = new Map<string, { readonly uids: ReadonlySet<string>; readonly resolve: () => void }>();
  const check = (key: string): void => {
    const wait = waiting.get(key);
    const found = [...(services.get(key)?.values() ?? [])].flat();
    if (wait === undefined || found.length !== wait.uids.size) return;
    if (!found.every((uid) => uid !== undefined && wait.uids.has(uid))) return;
    waiting.delete(key);
    wait.resolve();
  };
  const stopped = new AbortController();
  const following = followWatch(
    api,
    "/apis/discovery.k8s.io/v1/endpointslices",
    ({ type, object }) => {
      const { metadata, endpoints } = slice.parse(object);
      const key = `${metadata.namespace}/${metadata.labels["kubernetes.io/service-name"] ?? ""}`;
      const slices = services.get(key) ?? new Map<string, readonly (string | undefined)[]>();
      services.set(key, slices);
      const uids = (endpoints ?? []).map(({ conditions, targetRef }) =>
        conditions.ready === true ? targetRef?.uid : undefined,
      );
      if (type === "DELETED") slices.delete(metadata.name);
      else slices.set(metadata.name, uids);
      check(key);
    },
    stopped.signal,
  );
  // Resolves the waiting promises.
  following.catch(() => undefined);
  return {
    serves: (namespace, service, uids) =>
      Promise.race([
        new Promise<void>((resolve) => {
          waiting.set(`${namespace}/${service}`, { uids, resolve });
          check(`${namespace}/${service}`);
        }),
        following,
      ]),
    stop: () => stopped.abort(),
  };
}
