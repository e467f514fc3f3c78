import { defineController, defineResource, silentLog } from "@drover/controller";
import { answering } from "@drover/runtime";
import { type Call, callMemory, rememberSecrets, signed } from "@drover/webhook";
import { createHmac } from "node:crypto";
import { z } from "zod";
import type { HookDeclaration } from "@drover/controller";
import { hookOf } from "../../apps/bridge/src/hooks/hook.fixture.ts";
import { openHooksInUse, usualLimits } from "../../apps/bridge/src/hooks/hooks-in-use.ts";
import { EventRefusedError } from "../../apps/bridge/src/hooks/event-refused.ts";
import { byName } from "../../apps/bridge/src/hooks/named-keys.ts";
import { sentHeaders } from "../../apps/bridge/src/hooks/sent-headers.ts";
import { eventTaker } from "../../apps/bridge/src/hooks/take-event.ts";
import { receiveAnswer } from "../../apps/gateway/src/calls/receive-answer.ts";
import { pendingRuns } from "../../apps/gateway/src/completions/pending-runs.ts";
import {
  CompletionRefusedError,
  receiveCompletion,
} from "../../apps/gateway/src/completions/received-completion.ts";
import { callAt } from "../../packages/webhook/src/testing/call-mutants.ts";
import { type Case, once, type Sent, type Subject } from "./sent.ts";

export const now = Date.parse("2026-01-01T00:00:00Z");
export const secret = `whsec_${Buffer.alloc(24, 1).toString("base64")}`;
const othersSecret = `whsec_${Buffer.alloc(24, 2).toString("base64")}`;
export const audience = { name: "web/greetings", uid: "f-1" };
const neighbour = { name: "web/others", uid: "f-2" };
const longAgo = now - 301_000;

const remembered = (one: string) =>
  rememberSecrets(
    () => Promise.resolve([one]),
    () => 0,
    60_000,
  );
export const send = (body: object, id: string, by = secret, at = now): Sent => {
  const text = Buffer.from(JSON.stringify(body));
  return { headers: signed([by], { id, at }, text), body: text };
};
const claimed = ({ headers }: Sent) => ({
  id: headers["webhook-id"],
  timestamp: headers["webhook-timestamp"],
  signature: headers["webhook-signature"],
});

/** By Standard Webhooks several signatures may stand beside each other, with blanks between. */
const standard = {
  signedHeaders: ["webhook-id", "webhook-timestamp", "webhook-signature"],
  isBodySigned: true,
  canonical({ headers, body }: Sent): string {
    const signatures = (headers["webhook-signature"] ?? "").split(" ").filter((one) => one !== "");
    return JSON.stringify([
      ...[headers["webhook-id"], headers["webhook-timestamp"]],
      ...[signatures.toSorted()[0], body.toString("latin1")],
    ]);
  },
} as const;

const Greeting = defineResource({
  ...{ group: "examples.drover.dev", version: "v1", kind: "Greeting", scope: "Namespaced" },
  spec: z.object({ name: z.string() }),
  status: z.object({}),
});

/** A served function: accepted is a call that was run. */
function calls(): Subject {
  let runs = 0;
  const controller = defineController({
    for: Greeting,
    reconcile: () => (runs++, Promise.resolve(undefined)),
  });
  const memory = callMemory(() => now, { calls: 1_000, bytes: 1e6 });
  const answer = answering({
    ...{ controller, audience, memory, log: silentLog, now: () => now },
    secrets: () => [secret],
  });
  const call = (more: Partial<Call> = {}): Call => callAt(now, { audience, ...more });
  const sent = (one: Call, by = secret, at = now): Sent => send(one, one.token, by, at);
  return {
    name: "calls",
    make: () => ({
      ...standard,
      sent: sent(call()),
      others: once(() => [
        sent(call({ audience: neighbour }), othersSecret),
        sent(call({ audience: neighbour })),
        sent(call({ audience: { ...audience, uid: "f-0" } })),
        sent(call(), othersSecret),
        sent(call(), secret, longAgo),
        sent(call({ deadline: new Date(now - 1).toISOString() })),
        send({ outcome: "done" }, call().token),
      ]),
      async accepts(one) {
        const before = runs;
        const said = await answer({ headers: claimed(one), body: one.body });
        return runs > before || said.status < 300;
      },
    }),
  };
}

/** The gateway, which reads the answer to its call: accepted is one that it believes. */
const answers: Subject = {
  name: "answers",
  make(i) {
    const id = `t-${i}`;
    const body = { outcome: "done", status: { text: `Hello, ${i}!`, i } };
    return {
      ...standard,
      sent: send(body, id),
      others: once(() => [
        send(body, `t-${i - 1}`),
        send({ outcome: "parked", message: "no" }, `t-${i + 1}`),
        send(body, id, othersSecret),
        send(body, id, secret, longAgo),
        send(callAt(now, { audience, token: id }), id),
        send({ audience, key: "web/ada", token: id, result: body }, id),
        send({ status: { text: "version 1" } }, id),
      ]),
      async accepts({ headers, body: bytes }) {
        const reply = { status: 200, headers, body: bytes };
        const secrets = remembered(secret);
        const parts = { id, reply, secrets, used: await secrets.now(), now: () => now };
        return receiveAnswer(parts).then(
          () => true,
          (error: unknown) => expected(error, "RetryError"),
        );
      },
    };
  },
};

/** The gateway's listener: accepted is a result that a run takes. */
function completions(): Subject {
  const pending = pendingRuns();
  const secrets = new Map([
    ["web/greetings f-1", remembered(secret)],
    ["web/others f-2", remembered(othersSecret)],
  ]);
  const { signal } = new AbortController();
  return {
    name: "completions",
    make(i) {
      const [token, key] = [`t-${i}`, `web/ada-${i}`];
      const completion = { audience, key, token, result: { outcome: "done", status: { i } } };
      const sent = (more: object, by = secret, at = now): Sent =>
        send({ ...completion, ...more }, `c_${i}`, by, at);
      return {
        ...standard,
        sent: sent({}),
        others: once(() => [
          sent({ audience: neighbour }, othersSecret),
          sent({ audience: neighbour }),
          sent({}, othersSecret),
          sent({}, secret, longAgo),
          sent({ token: `t-${i - 1}` }),
          sent({ key: "web/eve" }),
          sent({ result: { outcome: "accepted" } }),
          sent({ code: 200, result: {} }),
          send(callAt(now, { audience, key, token }), token),
          send({ outcome: "done" }, token),
        ]),
        async accepts({ headers, body }) {
          const run = pending.expect(token, { audience, key, held: () => true });
          try {
            const read = () => Promise.resolve(body);
            const one = await receiveCompletion({
              ...{ named: audience, headers: claimed({ headers, body }), now },
              body: { read, signal, verified: () => undefined },
              secretsOf: ({ name, uid }) => secrets.get(`${name} ${uid}`),
            });
            return pending.complete(one) === "taken";
          } catch (error) {
            if (error instanceof CompletionRefusedError) return false;
            throw error;
          } finally {
            run.forget();
          }
        },
      };
    },
  };
}

interface Signing extends Pick<Case, "signedHeaders" | "isBodySigned" | "canonical"> {
  readonly verify: HookDeclaration["verify"] | object;
  readonly secrets: readonly [string, string];
  readonly sign: (body: Buffer, by: string, at: number) => Record<string, string>;
}

const secretRef = { name: "hooks", key: "s3" };
const hmacOf = (algorithm: "sha256" | "sha512", encoding: "hex" | "base64", prefix: string): Signing => ({
  verify: { hmac: { secretRef, header: "X-Signature", algorithm, prefix, encoding } },
  secrets: ["sixteen letters!", "sixteen others.."],
  isBodySigned: true,
  signedHeaders: ["x-signature"],
  sign: (body, by) => ({
    "x-signature": `${prefix}${createHmac(algorithm, by).update(body).digest(encoding)}`,
  }),
  // Hex has two forms of each letter, base64 bits that it does not use: the same bytes are the same signature.
  canonical: ({ headers: { "x-signature": value = "" }, body }) =>
    JSON.stringify([
      ...[value.slice(0, prefix.length), body.toString("latin1")],
      Buffer.from(value.slice(prefix.length), encoding).toString("hex"),
    ]),
});

const schemes: Readonly<Record<string, Signing>> = {
  "hook events, Standard Webhooks": {
    ...standard,
    verify: { standardWebhooks: { secretRef } },
    secrets: [secret, othersSecret],
    sign: (body, by, at) => ({ ...signed([by], { id: "msg_1", at }, body) }),
  },
  "hook events, hmac in hex": hmacOf("sha256", "hex", "sha256="),
  "hook events, hmac in base64": hmacOf("sha512", "base64", ""),
  "hook events, bearer": {
    verify: { bearer: { secretRef } },
    secrets: ["sixteen-letters!", "sixteen-others.."],
    isBodySigned: false,
    signedHeaders: ["authorization"],
    sign: (_body, by) => ({ authorization: `Bearer ${by}` }),
    canonical: ({ headers: { authorization = "" } }) => authorization.replace(/^bearer +/i, "").trimEnd(),
  },
};

/** The bridge's listener: accepted is an event that wakes a key. */
function events(name: string, signing: Signing): Subject {
  const { verify, sign, secrets } = signing;
  let woken = 0;
  const hook = hookOf({ verify, names: { field: "Records[].name" } });
  const limits = { ...usualLimits, rate: { perSecond: 1, burst: 1e9 } };
  const inUse = openHooksInUse(
    () => Promise.resolve([secrets[0]]),
    limits,
    () => 0,
  );
  inUse.want([hook]);
  const take = eventTaker({
    queueOf: () => ({ wake: (wakes) => ((woken += wakes.length), Promise.resolve()) }),
    idsOf: () => ({ knows: () => Promise.resolve(false), record: () => Promise.resolve() }),
    ...{ find: byName, onTrouble: () => undefined, now: () => now },
  });
  const { signal } = new AbortController();
  return {
    name,
    make(i) {
      const bodyOf = (key: string): Buffer => Buffer.from(JSON.stringify({ Records: [{ name: key }], i }));
      const body = bodyOf(`web/ada-${i}`);
      const isTimed = signing.signedHeaders.includes("webhook-timestamp");
      return {
        ...signing,
        sent: { headers: sign(body, secrets[0], now), body },
        others: once(() => [
          { headers: sign(body, secrets[1], now), body },
          { headers: sign(bodyOf("web/eve"), secrets[1], now), body: bodyOf("web/eve") },
          ...(isTimed ? [{ headers: sign(body, secrets[0], longAgo), body }] : []),
        ]),
        async accepts({ headers, body: bytes }) {
          const before = woken;
          const used = inUse.of(hook.name);
          if (used === undefined) throw new Error("The hook is not in use.");
          const read = () => Promise.resolve(bytes);
          const nothing = (): void => undefined;
          const incoming = { read, signal, verified: nothing, release: nothing };
          try {
            await take(used, { headers: sentHeaders(Object.entries(headers).flat()), body: incoming });
          } catch (error) {
            if (!(error instanceof EventRefusedError)) throw error;
          }
          return woken > before;
        },
      };
    },
  };
}

function expected(error: unknown, name: string): false {
  if (error instanceof Error && error.name === name) return false;
  throw error;
}

/** Made anew for each count: each has a memory of its own. */
export const subjects = (): readonly Subject[] => [
  calls(),
  answers,
  completions(),
  ...Object.entries(schemes).map(([name, signing]) => events(name, signing)),
];
