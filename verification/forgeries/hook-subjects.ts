import type { HookDeclaration } from "@drover/controller";
import { signMessage } from "@drover/webhook";
import { createHmac } from "node:crypto";
import { MessageRefusedError } from "@drover/webhook";
import { hookApp } from "../../packages/bridge/src/hooks/hook-app.ts";
import { hookOf } from "../../packages/bridge/src/hooks/hook.fixture.ts";
import { openHooksInUse, usualLimits } from "../../packages/bridge/src/hooks/hooks-in-use.ts";
import { findByName } from "../../packages/bridge/src/hooks/named-keys.ts";
import { sentHeaders } from "../../packages/bridge/src/hooks/verification/sent-headers.ts";
import { eventTaker } from "../../packages/bridge/src/hooks/take-event.ts";
import { listen } from "./over-http.ts";
import { longAgo, now, othersSecret, secret, standard } from "./scene.ts";
import { type Case, once, type OpenSubject } from "./sent.ts";

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
    sign: (body, by, at) => ({ ...signMessage([by], { id: "msg_1", at }, body) }),
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
async function events(name: string, signing: Signing, isOverHttp: boolean): Promise<OpenSubject> {
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
    idsOf: () => ({ has: () => Promise.resolve(false), record: () => Promise.resolve() }),
    find: findByName,
    onIdsFailed: () => undefined,
    now: () => now,
  });
  const { signal } = new AbortController();
  const nothing = (): void => undefined;
  const line = isOverHttp
    ? await listen(`/hooks/${hook.address}`, (admission) =>
        hookApp({ hooks: inUse, take, admission, onTaken: nothing, onRefused: nothing, onError: nothing }),
      )
    : undefined;
  return {
    name,
    close: async () => line?.close(),
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
          const used = inUse.of(hook.address);
          if (used === undefined) throw new Error("The hook is not in use.");
          if (line !== undefined) await line.send({ headers, body: bytes });
          const read = () => Promise.resolve(bytes);
          const incoming = { read, signal, verified: nothing, release: nothing };
          try {
            if (line === undefined)
              await take(used, { headers: sentHeaders(Object.entries(headers).flat()), body: incoming });
          } catch (error) {
            if (!(error instanceof MessageRefusedError)) throw error;
          }
          return woken > before;
        },
      };
    },
  };
}

export const hookEvents = (isOverHttp: boolean): Promise<readonly OpenSubject[]> =>
  Promise.all(Object.entries(schemes).map(([name, signing]) => events(name, signing, isOverHttp)));
