import type { Milliseconds } from "@drover/controller";
import type { KubeClient, WriteGuard, WatchOptions } from "./client.ts";
import { MalformedReplyError } from "../errors.ts";
import { type ClientParts, read, unlessAbsent } from "./exchange.ts";
import { findObjects } from "./find-objects.ts";
import { objectWrites } from "./object-writes.ts";
import { listFrom, objectFrom, refusalError, reviewFrom } from "./reply.ts";
import { isServed, serverVersion } from "./discovery.ts";
import { getRequest, listRequest, reviewRequest, watchRequest } from "./request-shape.ts";
import type { ResourceRef } from "../objects/resource-ref.ts";
import { type Transport, transportAs } from "../transport/transport.ts";
import { podRequests } from "./pod-requests.ts";
import { bothGuards } from "./write-guard.ts";
import { readBounded } from "../transport/bounded-body.ts";
import { type WatchFrame, watchFrames } from "./watch-frames.ts";

/** A client over a transport. With `guard`, each write is checked before it is sent. */
export function clientOver(parts: ClientParts, guard?: WriteGuard): KubeClient {
  const { transport, requestTimeout } = parts;
  const client: KubeClient = {
    get: async (ref, key, options = {}) => {
      const shape = getRequest(ref, key);
      return unlessAbsent(undefined, async () =>
        objectFrom(shape.name, ref, await read(parts, shape, options)),
      );
    },
    list: async (ref, options = {}) => {
      const shape = listRequest(ref, options);
      return listFrom(shape.name, ref, await read(parts, shape, options), options.metadataOnly === true);
    },
    find: (ref, options = {}) => findObjects(client, guard?.cache, ref, options),
    isServed: (ref, options = {}) => isServed(parts, ref, options),
    serverVersion: (options = {}) => serverVersion(parts, options),
    ...objectWrites(parts, guard),
    review: async (ref, spec, options = {}) => {
      const shape = reviewRequest(ref, spec);
      return reviewFrom(shape.name, await read(parts, shape, options));
    },
    ...podRequests(transport, requestTimeout),
    watch: (ref, options) => openWatch(transport, requestTimeout, ref, options),
    guarded: (inner) => clientOver(parts, bothGuards(guard, inner)),
    as: ({ namespace, name }) =>
      clientOver(
        { ...parts, transport: transportAs(transport, `system:serviceaccount:${namespace}:${name}`) },
        guard,
      ),
    close: () => transport.close(),
  };
  return client;
}

/** Largest body of a refusal, in bytes. */
const longestRefusal = 1024 * 1024;

/** Opens a watch when its first frame is requested. Leaving the loop closes it. */
async function* openWatch(
  transport: Transport,
  timeout: Milliseconds,
  ref: ResourceRef,
  options: WatchOptions,
): AsyncGenerator<readonly WatchFrame[], void, undefined> {
  const { signal, onActivity = () => undefined } = options;
  const reply = await transport.stream({ ...watchRequest(ref, options), signal, timeout });
  onActivity();
  if (reply.status !== 200) throw refusalError({ ...reply, body: await readBounded(reply, longestRefusal) });
  if (!reply.contentType.startsWith("application/json")) {
    reply.body.destroy();
    throw new MalformedReplyError(
      reply.request,
      `it answers with ${JSON.stringify(reply.contentType)}, not JSON.`,
    );
  }
  options.onOpen?.();
  try {
    yield* watchFrames(reply, { ref, partial: options.metadataOnly === true }, onActivity);
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
}
