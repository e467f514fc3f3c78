import { silentLog } from "@drover/controller";
import { afterEach } from "vitest";
import { connect } from "../client/connect.ts";
import { type ReflectorOptions, runReflector } from "../reflector/run-reflector.ts";
import { eventLog } from "./event-log.ts";
import { bucketRef, bucketList, bucketObject } from "./objects.ts";
import { jsonReply, type ReplyScript, scriptedServer } from "./scripted-server.ts";
import { VirtualTimers } from "@drover/timers";

const stack: AsyncDisposableStack[] = [];
afterEach(async () => {
  while (stack.length > 0) await stack.pop()?.disposeAsync();
});

/** A reflector against scripted answers, on a clock that the test holds. It lists in pages unless it is told otherwise. */
export async function reflectorUnderTest(
  scripts: readonly ReplyScript[],
  options: Partial<ReflectorOptions> = {},
) {
  const owned = new AsyncDisposableStack();
  stack.push(owned);
  const server = owned.use(await scriptedServer(...scripts));
  const client = await connect({ kubeconfig: server.kubeconfig });
  owned.defer(() => client.close());
  const clock = new VirtualTimers();
  const log = eventLog();
  const stopping = new AbortController();
  const reflector = runReflector({
    client,
    ref: bucketRef,
    signal: stopping.signal,
    onEvents: (events) => log.onEvents(events),
    log: silentLog,
    timers: clock,
    random: () => 0,
    streamsLists: false,
    ...options,
  });
  owned.defer(async () => {
    stopping.abort();
    await reflector.done;
  });
  /** Sits out the wait that the reflector is in, or comes to; its span. */
  const sitOut = async (): Promise<number> => {
    const span = await clock.waitFor("reflector");
    clock.advance(span);
    return span;
  };
  return { server, client, clock, log, reflector, stopping, sitOut };
}

/** A bucket of this version. */
export const bucketAt = (name: string, resourceVersion: string, more: object = {}) =>
  bucketObject(name, { resourceVersion, ...more });
export const rawFrame = (type: string, object: object) => ({ type, object });
export const rawBookmark = (resourceVersion: string, metadata: object = {}) =>
  rawFrame("BOOKMARK", {
    apiVersion: "s3.example.com/v1",
    kind: "Bucket",
    metadata: { ...metadata, resourceVersion },
  });
/** The end of a streamed listing of this version. */
export const rawListEnd = (resourceVersion: string) =>
  rawBookmark(resourceVersion, { annotations: { "k8s.io/initial-events-end": "true" } });
/** A page of a listing of this version. */
export const pageReply = (resourceVersion: string, names: readonly string[], token?: string) =>
  jsonReply(
    bucketList(
      names.map((name) => bucketAt(name, "3")),
      { resourceVersion, continue: token },
    ),
  );
