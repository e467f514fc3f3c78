import { silentLog } from "@drover/controller";
import { onTestFinished } from "vitest";
import { type ReflectorOptions, runReflector } from "../reflector/run-reflector.ts";
import { eventLog } from "./event-log.ts";
import { bucketRef, bucketList, bucketObject } from "./objects.ts";
import { scriptedClient } from "./scripted-client.ts";
import { jsonReply, type ReplyScript } from "./scripted-server.ts";
import { VirtualTimers } from "@drover/timers";

/** A reflector with scripted answers and a virtual clock. It lists in pages, unless `streamsLists` is set. */
export async function reflectorUnderTest(
  scripts: readonly ReplyScript[],
  options: Partial<ReflectorOptions> = {},
) {
  const { server, client } = await scriptedClient(scripts);
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
  onTestFinished(async () => {
    stopping.abort();
    await reflector.done;
  });
  /** Ends the current or next wait of the reflector. @returns its length, ms. */
  const sitOut = async (): Promise<number> => {
    const span = await clock.waitFor("reflector");
    clock.advance(span);
    return span;
  };
  return { server, client, clock, log, reflector, stopping, sitOut };
}

/** A reflector that has listed no objects at version 7, and then gets the answers to its watches. */
export const watchUnderTest = (...watches: readonly ReplyScript[]) =>
  reflectorUnderTest([pageReply("7", []), ...watches]);

/** A bucket of this version. */
export const bucketAt = (name: string, resourceVersion: string, more: object = {}) =>
  bucketObject(name, { resourceVersion, ...more });
export const rawFrame = (type: string, object: object) => ({ type, object });
export const rawAdded = (name: string, version = "3") => rawFrame("ADDED", bucketAt(name, version));
export const rawBookmark = (resourceVersion: string, metadata: object = {}) =>
  rawFrame("BOOKMARK", {
    apiVersion: "s3.example.com/v1",
    kind: "Bucket",
    metadata: { ...metadata, resourceVersion },
  });
/** The end of a streamed list of this version. */
export const rawListEnd = (resourceVersion: string) =>
  rawBookmark(resourceVersion, { annotations: { "k8s.io/initial-events-end": "true" } });
/** A page of a list of this version. */
export const pageReply = (resourceVersion: string, names: readonly string[], token?: string) =>
  jsonReply(
    bucketList(
      names.map((name) => bucketAt(name, "3")),
      { resourceVersion, continue: token },
    ),
  );
