/**
 * Every shipped reader of bytes that a stranger, or a tenant with a secret of its own, may send: messages of webhook
 * functions, events of hooks, and their headers, and specs of objects. In each message every field in turn holds each payload.
 */
import { durationSchema, tryParseObjectKey } from "@drover/controller";
import { refuseForm } from "@drover/runtime";
import {
  type Call,
  MessageRefusedError,
  parseSignatureClaim,
  readAnswer,
  readCompletion,
  receiveCall,
  signMessage,
} from "@drover/webhook";
import { successOf } from "../../packages/calls/src/interpret.ts";
import { bearer } from "../../packages/bridge/src/hooks/verification/bearer.ts";
import { parseBody, refuseType } from "../../packages/bridge/src/hooks/event-body.ts";
import { hmac } from "../../packages/bridge/src/hooks/verification/hmac.ts";
import { hookOf } from "../../packages/bridge/src/hooks/hook.fixture.ts";
import { eventTexts } from "../../packages/bridge/src/hooks/named-keys.ts";
import { findByName } from "../../packages/bridge/src/hooks/named-keys.ts";
import { sentHeaders } from "../../packages/bridge/src/hooks/verification/sent-headers.ts";
import { parseObject } from "../../packages/runtime/src/schema/parse-object.ts";
import { callAt } from "../../packages/webhook/src/testing/call-mutants.ts";
import { z } from "zod";
import { exampleKind } from "../harness/example-kind.ts";
import { headerSizes, type Measured } from "./measure.ts";
import { fewPayloads, type Payload, payloads } from "./payloads.ts";

const secret = `whsec_${Buffer.alloc(24, 1).toString("base64")}`;
const now = Date.parse("2026-01-01T00:00:00Z");

interface Reader {
  readonly name: string;
  /** A message that is well: each of its fields is replaced in turn, and the whole. */
  readonly samples: readonly object[];
  readonly read: (body: Uint8Array) => unknown;
}

const answers: readonly object[] = [
  {
    outcome: "done",
    status: { text: "" },
    requeueAfter: "1s",
    account: "a",
    conditions: [{ type: "Warm", status: "True", reason: "Yes", message: "" }],
  },
  { outcome: "again", after: "1s", reason: "A", message: "", account: "a" },
  { outcome: "parked", message: "", reason: "A" },
];
const completion = (result: object): object => ({
  audience: { name: "web/greetings", uid: "f-1" },
  key: "web/ada",
  token: "t",
  result,
});

/** As the gateway goes on with an answer: words are cut and cleaned. */
function interpret(body: Uint8Array): unknown {
  const read = readAnswer(body);
  if (!read.ok || read.message.outcome === "accepted") return read;
  try {
    return successOf(read.message, "dev.drover.reconcile.v2");
  } catch (error) {
    return error;
  }
}

function readCall(body: Uint8Array): unknown {
  const headers = signMessage([secret], { id: "t", at: now }, body);
  const [id, timestamp, signature] = ["id", "timestamp", "signature"].map(
    (name) => headers[`webhook-${name}` as keyof typeof headers],
  );
  const audience = { name: "web/greetings", uid: "f-1" };
  return quietly(() =>
    receiveCall({ headers: { id, timestamp, signature }, body, secrets: [secret], audience, now }),
  );
}

const hook = hookOf({ names: { field: "data.Records[].name" } });
/** As the bridge goes on with an event: names, then keys. */
function readEvent(body: Uint8Array): unknown {
  return quietly(() => {
    const content = parseBody(body);
    const texts = eventTexts(hook.names, { headers: sentHeaders([]), body, content, signedId: undefined });
    return [...new Set(texts)].map((text) => findByName(hook, text));
  });
}

function quietly(read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    if (error instanceof Error && !(error instanceof RangeError)) return error.name;
    throw error;
  }
}

const readers: readonly Reader[] = [
  { name: "answer", samples: answers, read: interpret },
  { name: "completion", samples: [completion(answers[0] ?? {})], read: readCompletion },
  {
    name: "call",
    samples: [{}, { ...callAt(now), token: "t", complete: "http://a/", replaced: "u" } satisfies Call],
    read: readCall,
  },
  {
    // A CloudEvent in JSON.
    name: "event",
    samples: [{ specversion: "1.0", id: "a", type: "t", data: { Records: [{ name: "web/a" }] } }],
    read: readEvent,
  },
];

/** All places of a value, as functions that put a JSON text there. */
function placesIn(value: unknown, at = ""): readonly { at: string; put: (text: string) => string }[] {
  const here = { at, put: (text: string) => text };
  if (typeof value !== "object" || value === null) return [here];
  const isList = Array.isArray(value);
  const entries = Object.entries(value);
  const inner = entries.flatMap(([name, field], i) =>
    placesIn(field, `${at}.${name}`).map((place) => ({
      at: place.at,
      put(text: string) {
        const parts = entries.map(([key, other], j) => {
          const written = i === j ? place.put(text) : JSON.stringify(other);
          return isList ? written : `${JSON.stringify(key)}:${written}`;
        });
        return isList ? `[${parts.join()}]` : `{${parts.join()}}`;
      },
    })),
  );
  return [here, ...inner];
}

const ofBodies: readonly Measured[] = readers.flatMap(({ name, samples, read }) =>
  samples.flatMap((sample, i) =>
    placesIn(sample).flatMap(({ at, put }) =>
      (i === 0 && at.split(".").length < 3 ? payloads : fewPayloads).map((payload): Measured => ({
        name: `${name} ${i}${at}: ${payload.name}`,
        prepare(bytes) {
          const body = Buffer.from(put(payload.json(bytes)));
          return () => read(body);
        },
      })),
    ),
  ),
);

const textOf = (payload: Payload, bytes: number): string | undefined => {
  const json = payload.json(bytes);
  return json.startsWith('"') ? (JSON.parse(json) as string) : undefined;
};
const github = {
  header: "x-hub-signature-256",
  algorithm: "sha256",
  prefix: "sha256=",
  encoding: "hex",
} as const;
const base64 = { ...github, prefix: "", encoding: "base64" } as const;

// JavaScript's engine looks for its start everywhere: work that grows by the square.
const Site = exampleKind("Site", { spec: { name: z.string().regex(/[a-z0-9-]+x/) } });
const metadata = { name: "a", namespace: "web", uid: "s-1", resourceVersion: "1" };

const textReaders: Readonly<Record<string, (text: string) => unknown>> = {
  "header webhook-id": (id) => claim({ id, timestamp: String(now / 1_000), signature: "v1," }),
  "header webhook-timestamp": (timestamp) => claim({ id: "a", timestamp, signature: "v1," }),
  "header webhook-signature": (signature) => claim({ id: "a", timestamp: String(now / 1_000), signature }),
  "header of an hmac in hex": (text) =>
    refused(() => hmac(github).claimOf(one(github.header, `sha256=${text}`), now)),
  "header of an hmac in base64": (text) => refused(() => hmac(base64).claimOf(one(base64.header, text), now)),
  "header authorization": (text) =>
    refused(() => bearer.claimOf(one("authorization", `Bearer ${text}`), now)),
  "header content-type": (text) => refused(() => refuseType(one("content-type", text))),
  "header content-length": (text) =>
    refused(() => refuseForm({ headers: { "content-length": text } }, 2 ** 20)),
  "many headers": (text) => sentHeaders(text.match(/[^]{1,4}/g)?.flatMap((name) => [name, "a"]) ?? []),
  "one header again and again": (text) =>
    sentHeaders(text.match(/[^]{1,4}/g)?.flatMap(() => ["a", "a"]) ?? []),
  duration: (text) => durationSchema.safeParse(text),
  "name of an object": (text) => tryParseObjectKey(text),
  "spec with a pattern": (name) =>
    parseObject(Site, { apiVersion: Site.apiVersion, kind: Site.kind, metadata, spec: { name } }),
};

const one = (name: string, value: string) => sentHeaders([name, value]);
const claim = (headers: Parameters<typeof parseSignatureClaim>[0]): unknown =>
  refused(() => parseSignatureClaim(headers, now));

function refused(read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    if (error instanceof MessageRefusedError) return undefined;
    throw error;
  }
}

const ofTexts: readonly Measured[] = Object.entries(textReaders).flatMap(([name, read]) =>
  payloads.flatMap((payload): readonly Measured[] => {
    if (textOf(payload, 8) === undefined) return [];
    const prepare = (bytes: number) => {
      const text = textOf(payload, bytes) ?? "";
      return () => read(text);
    };
    const sizes = name.includes("header") ? { sizes: headerSizes } : {};
    return [{ name: `${name}: ${payload.name}`, prepare, ...sizes }];
  }),
);

export const everyReader: readonly Measured[] = [...ofTexts, ...ofBodies];
