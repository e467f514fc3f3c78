/**
 * Changes objects at a steady pace, watches them, and takes the requests that runs of them are. None of this is Drover's. A
 * process of its own, since it must be where Pods reach it: `node recorder.ts '{"kubeconfig": ..., "host": ..., "port": ...}'`.
 *
 *     POST /runs/KIND   a run: answered after a moment
 *     POST /load        changes begin, and go on; failures before the first one are forgotten
 *     DELETE /load      answered when the last change is made
 *     GET /report       what was seen so far
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { json } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { openDirectApi } from "../bridge-chaos/direct-api.ts";
import { now } from "../harness/clock.ts";
import { countAnnotation, deliveries, type Delivery, kinds, openRun } from "./notes.ts";
import { objectsOfEach, type Report, runLasts } from "./report.ts";

const optionsSchema = z.object({
  kubeconfig: z.string(),
  host: z.string(),
  port: z.number(),
  perSecond: z.number(),
});
const options = optionsSchema.parse(JSON.parse(process.argv[2] ?? ""));
const api = openDirectApi(options.kubeconfig);

const pathOf = (delivery: Delivery): string => {
  const { group, version, plural } = kinds[delivery];
  return `/apis/${group}/${version}/namespaces/default/${plural}`;
};

/** By kind and key. */
const committed = new Map<string, number>();
const seen = new Map<string, number>();
const running = new Map<string, ServerResponse>();
const overlaps: string[] = [];
const failures = new Set<string>();
const runs: Record<Delivery, { count: number; last: number; longestGap: number }> = {
  pulled: { count: 0, last: now(), longestGap: 0 },
  called: { count: 0, last: now(), longestGap: 0 },
};
let changes = 0;
let began = now();
let elapsed = 0;

async function takeRun(delivery: Delivery, request: IncomingMessage, response: ServerResponse) {
  const { key, count } = openRun.parse(await json(request));
  const id = `${delivery} ${key}`;
  if (running.has(id)) overlaps.push(`${id} at change ${count}`);
  running.set(id, response);
  const isOver = (): void => {
    if (running.get(id) === response) running.delete(id);
  };
  response.once("close", isOver);
  const ofKind = runs[delivery];
  ofKind.count++;
  // Only under load: without changes no run is due.
  if (loading !== undefined) ofKind.longestGap = Math.max(ofKind.longestGap, now() - ofKind.last);
  ofKind.last = now();
  await delay(runLasts);
  seen.set(id, Math.max(count, seen.get(id) ?? 0));
  // Before the answer: the next run may begin as soon as this one has it.
  isOver();
  response.end();
}

let loading: AbortController | undefined;
let loaded: Promise<void> = Promise.resolve();
/** By the clock, so that a slow answer is made up for, unless so many are awaited; the changes of one object in their order. */
async function load({ signal }: AbortController): Promise<void> {
  began = now();
  for (const delivery of deliveries) runs[delivery].last = began;
  const patches = new Map<string, Promise<unknown>>();
  let [awaited, owed, before] = [0, 0, began];
  while (!signal.aborted) {
    owed = Math.min(owed + ((now() - before) * options.perSecond) / 1_000, mostAwaited - awaited);
    before = now();
    for (; owed >= 1; owed--) {
      const path = `${pathOf(deliveries[changes % 2] ?? "pulled")}/n${(changes >> 1) % objectsOfEach}`;
      // Without the managers of fields a change costs the API server less; it shares two cores with all that is tested.
      const metadata = { annotations: { [countAnnotation]: String(++changes) }, managedFields: [{}] };
      awaited++;
      const patch = () => api.demand("PATCH", path, { metadata }).finally(() => awaited--);
      patches.set(path, (patches.get(path) ?? Promise.resolve()).then(patch));
    }
    await delay(5);
  }
  await Promise.all(patches.values());
  elapsed += now() - began;
}
const mostAwaited = 2 * objectsOfEach;

const objectSchema = z.object({
  metadata: z.object({
    namespace: z.string(),
    name: z.string(),
    resourceVersion: z.string(),
    annotations: z.record(z.string(), z.string()).default({}),
  }),
  status: z
    .object({
      conditions: z
        .array(z.object({ type: z.string(), status: z.string(), reason: z.string(), message: z.string() }))
        .default([]),
    })
    .default({ conditions: [] }),
});
const listSchema = z.object({
  metadata: z.object({ resourceVersion: z.string() }),
  items: z.array(objectSchema),
});
const frameSchema = z.object({ type: z.enum(["ADDED", "MODIFIED"]), object: objectSchema });

function see(delivery: Delivery, { metadata, status }: z.output<typeof objectSchema>): void {
  const id = `${delivery} ${metadata.namespace}/${metadata.name}`;
  committed.set(id, Number(metadata.annotations[countAnnotation] ?? 0));
  for (const { type, status: state, reason, message } of status.conditions)
    if (type === "Ready" && state === "False") failures.add(`${id}: ${reason}: ${message}`);
}

/**
 * Goes on at the last frame when the server ends the watch. A frame of another type ends this process: then nothing is
 * proved.
 */
async function watch(delivery: Delivery): Promise<void> {
  const list = listSchema.parse(await api.demand("GET", pathOf(delivery)));
  for (const one of list.items) see(delivery, one);
  let { resourceVersion } = list.metadata;
  for (;;) {
    const query = `watch=true&timeoutSeconds=7200&resourceVersion=${resourceVersion}`;
    for await (const line of api.lines(`${pathOf(delivery)}?${query}`, new AbortController().signal)) {
      const { object } = frameSchema.parse(JSON.parse(line));
      ({ resourceVersion } = object.metadata);
      see(delivery, object);
    }
  }
}

const report = (): Report => ({
  changes,
  perSecond: Math.round(
    changes / Math.max(1, (elapsed + (loading === undefined ? 0 : now() - began)) / 1_000),
  ),
  runs: { pulled: runs.pulled.count, called: runs.called.count },
  longestGap: { pulled: Math.round(runs.pulled.longestGap), called: Math.round(runs.called.longestGap) },
  overlaps,
  failures: [...failures],
  unseen: [...committed].flatMap(([id, count]) =>
    (seen.get(id) ?? -1) >= count ? [] : [`${id}: change ${count}, seen ${seen.get(id) ?? "none"}`],
  ),
});

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const [, what, kind] = request.url?.split("/") ?? [];
  const delivery = deliveries.find((one) => one === kind);
  if (what === "runs" && delivery !== undefined) {
    // A run that is stopped breaks its request off.
    await takeRun(delivery, request, response).catch((error: unknown) => {
      console.error("broken off:", error);
      response.destroy();
    });
    return;
  }
  if (what === "load" && request.method === "POST") {
    // The first calls may be refused: a Pod is Ready before the node leads its Service to it.
    if (changes === 0) failures.clear();
    loading = new AbortController();
    loaded = load(loading);
    loaded.catch(fail);
  } else if (what === "load") {
    loading?.abort();
    loading = undefined;
    await loaded;
  }
  response.end(JSON.stringify(report()));
}
const fail = (error: unknown): never => {
  console.error(error);
  process.exit(1);
};

for (const delivery of deliveries) watch(delivery).catch(fail);
createServer((request, response) => void answer(request, response).catch(fail)).listen(
  options.port,
  options.host,
  () => console.log("recording"),
);
