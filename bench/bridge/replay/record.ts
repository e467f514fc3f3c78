import { createReadStream, createWriteStream, type WriteStream } from "node:fs";
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { type Api, inParallel } from "../cluster/api.ts";
import type { BenchCluster } from "../cluster/bench-cluster.ts";
import { createWidget, patch, type Population } from "../cluster/population.ts";
import type { PseudoRandom } from "@drover/random";
import type { Key } from "../cluster/numbered-kind.ts";
import { widgets } from "../cluster/widgets.ts";
import { accept, type Format, formats } from "./formats.ts";
import { endsInitialEvents, frameCutter } from "./frames.ts";

/** Answers of a real API server, byte by byte. */
export interface Recording {
  readonly formats: Readonly<Record<Format, RecordedFormat>>;
  /** Answers to what clients ask before they list: path -> JSON. */
  readonly discovery: ReadonlyMap<string, string>;
  /** The last frame is about this key, and no other is. */
  readonly end: Key;
  /** The last version of each key that a frame is about. */
  readonly versions: ReadonlyMap<Key, string>;
  /** Watch frames of one format, without bookmarks. */
  readonly frames: number;
}

export interface RecordedFormat {
  /** In one piece, for clients that do not page, and by continue token ("" for the first) for those that do. */
  readonly whole: Listed;
  readonly pages: ReadonlyMap<string, Listed>;
  /** Of the watch: its type, and files of the frames that are a listing, and of those that came later. */
  readonly type: string;
  readonly initial: string;
  readonly live: string;
}

interface Listed {
  readonly type: string;
  readonly body: Buffer;
}

export const pageSize = 500;
const changesAtOnce = 8;
/**
 * The server ends a watch with a reader that is so many events behind: one that began when the server had little history has
 * room for ten.
 */
const mostUnseen = 8;

/** Watches in every format while so many changes are made. */
export async function record(
  cluster: BenchCluster,
  population: Population,
  changes: number,
  random: PseudoRandom,
): Promise<Recording> {
  const { api, folder } = cluster;
  const end = "bench-0/the-end";
  const watches = await Promise.all(formats.map((format) => recordWatch(api, format, folder, end)));
  const listings = await Promise.all(formats.map((format) => recordListings(api, format)));
  const keys = [...population.living];
  const seen = (): number => Math.min(...watches.map(({ seen }) => seen()));
  let made = 0;
  await inParallel(changes, changesAtOnce, async (i) => {
    await patch(api, keys[random.below(keys.length)] ?? "", i + 1);
    made += 1;
    while (made - seen() > mostUnseen) await delay(1);
  });
  await createWidget(api, end);
  await Promise.all(watches.map(({ ended }) => ended));
  const recorded = (format: Format): RecordedFormat => {
    const [watch, listing] = [watches[formats.indexOf(format)], listings[formats.indexOf(format)]];
    if (watch === undefined || listing === undefined) throw new Error(`${format} was not recorded.`);
    return { ...listing, type: watch.type, initial: watch.initial, live: watch.live };
  };
  const metadata = recorded("metadata");
  const { versions, frames } = await lastVersions(metadata.live);
  return {
    formats: { whole: recorded("whole"), metadata, "metadata-protobuf": recorded("metadata-protobuf") },
    discovery: await recordDiscovery(api),
    end,
    versions,
    frames,
  };
}

async function recordWatch(api: Api, format: Format, folder: string, end: Key) {
  const query =
    "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
  const answer = await api.open(`${widgets.collection}?${query}&timeoutSeconds=3600`, accept[format].watch);
  const [initial, live] = [join(folder, `${format}.initial`), join(folder, `${format}.live`)];
  const listed = Promise.withResolvers<undefined>();
  let seen = 0;
  const ended = split(answer, format, [createWriteStream(initial), createWriteStream(live)], end, {
    listed: () => listed.resolve(undefined),
    frame: () => (seen += 1),
  });
  await Promise.race([listed.promise, ended]);
  return { type: typeOf(answer), initial, live, ended, seen: () => seen };
}

/** Resolves when the last frame is in its file. */
async function split(
  answer: IncomingMessage,
  format: Format,
  [initial, live]: readonly [WriteStream, WriteStream],
  end: Key,
  on: { readonly listed: () => void; readonly frame: () => void },
): Promise<void> {
  const cutter = frameCutter(format);
  const [, endName = ""] = end.split("/");
  const ended = Promise.withResolvers<undefined>();
  let file = initial;
  answer.on("data", (bytes: Buffer) => {
    for (const frame of cutter.cut(bytes)) {
      file.write(frame);
      if (file === initial && endsInitialEvents(frame)) {
        file = live;
        initial.end(on.listed);
      } else if (file === live) {
        on.frame();
        if (frame.includes(endName)) ended.resolve(undefined);
      }
    }
  });
  answer.on("error", ended.reject).on("end", () => ended.reject(new Error("The watch ended early.")));
  await ended.promise;
  answer
    .removeAllListeners("end")
    .on("error", () => undefined)
    .destroy();
  live.end();
  await once(live, "finish");
}

async function recordListings(api: Api, format: Format): Promise<Pick<RecordedFormat, "whole" | "pages">> {
  const list = async (query: string): Promise<Listed> => {
    const answer = await api.open(`${widgets.collection}${query}`, accept[format].list);
    const chunks: Buffer[] = [];
    for await (const chunk of answer) chunks.push(z.instanceof(Buffer).parse(chunk));
    return { type: typeOf(answer), body: Buffer.concat(chunks) };
  };
  const pages = new Map<string, Listed>();
  // Continue tokens can be read from JSON only; clients that page ask for JSON.
  for (
    let token: string | undefined = format === "metadata-protobuf" ? undefined : "";
    token !== undefined;
  ) {
    const from: string = token === "" ? "" : `&continue=${encodeURIComponent(token)}`;
    const page = await list(`?limit=${pageSize}${from}`);
    pages.set(token, page);
    token = paged.parse(JSON.parse(page.body.toString())).metadata.continue;
  }
  return { whole: await list(""), pages };
}

const paged = z.object({
  metadata: z.object({
    continue: z
      .string()
      .optional()
      .transform((token) => token || undefined),
  }),
});

async function recordDiscovery(api: Api): Promise<ReadonlyMap<string, string>> {
  const paths = ["/api", "/apis", `/apis/${widgets.group}`, `/apis/${widgets.group}/v1`, "/version"];
  return new Map(await Promise.all(paths.map(async (path) => [path, await api.send("GET", path)] as const)));
}

const frameSchema = z.object({
  type: z.string(),
  object: z.object({
    metadata: z.object({
      name: z.string().default(""),
      namespace: z.string().default(""),
      resourceVersion: z.string(),
    }),
  }),
});

async function lastVersions(file: string): Promise<Pick<Recording, "versions" | "frames">> {
  const versions = new Map<Key, string>();
  let frames = 0;
  for await (const line of createInterface({ input: createReadStream(file) })) {
    const { type, object } = frameSchema.parse(JSON.parse(line));
    if (type === "BOOKMARK") continue;
    frames += 1;
    const { namespace, name, resourceVersion } = object.metadata;
    versions.set(`${namespace}/${name}`, resourceVersion);
  }
  return { versions, frames };
}

const typeOf = (answer: IncomingMessage): string => answer.headers["content-type"] ?? "application/json";
