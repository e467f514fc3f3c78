import { type Audience, type Completion, MessageRefusedError } from "@drover/webhook";
import { randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import { callAt } from "../../../../packages/webhook/src/testing/call-mutants.ts";
import {
  forgedMessage,
  type Mutant,
  type SigningContext,
  signedMessage,
  type SignedMessage,
} from "../../../../packages/webhook/src/testing/mutants.ts";
import { pseudoRandom, type PseudoRandom } from "@drover/random";
import { otherSecret, secret, secretsFrom } from "../../../../packages/calls/src/calling.fixture.ts";
import { pendingRuns } from "@drover/calls";
import { receiveCompletion } from "./received-completion.ts";

const audience = { name: "web/greetings", uid: "f-1" };
const neighbour = { name: "web/others", uid: "f-2" };
const secrets = new Map([
  ["web/greetings f-1", secretsFrom(() => [secret])],
  ["web/others f-2", secretsFrom(() => [otherSecret])],
]);
const pending = pendingRuns();
const { signal } = new AbortController();
const now = Date.parse("2026-01-01T00:00:00Z");
const scene: SigningContext = { secret, otherSecret, now };

async function taken({ headers, body }: SignedMessage, named: Audience = audience): Promise<string> {
  try {
    const completion = await receiveCompletion({
      named,
      headers,
      now,
      body: { read: () => Promise.resolve(Buffer.from(body)), signal, verified: () => {} },
      secretsOf: ({ name, uid }) => secrets.get(`${name} ${uid}`),
    });
    return pending.complete(completion);
  } catch (error) {
    if (error instanceof MessageRefusedError) return error.refusal;
    throw error;
  }
}

/** A completion that must be refused, for this reason; `named` is the function in the URL. */
interface Refused extends Mutant {
  readonly named?: Audience;
  readonly refusal?: string;
}

/** Signed with a secret, and must not be taken. */
function astray(random: PseudoRandom, completion: Completion): Refused {
  const { key, token } = completion;
  const sent = (more: object, by = secret, at = now): SignedMessage =>
    signedMessage({ ...completion, ...more }, `c_${token}`, { ...scene, secret: by }, at);
  const ways: readonly (readonly [string, string, () => SignedMessage, Audience?])[] = [
    [
      "a neighbour that names itself",
      "not held",
      () => sent({ audience: neighbour }, otherSecret),
      neighbour,
    ],
    ["a neighbour that names us", "unverified", () => sent({}, otherSecret), neighbour],
    ["a neighbour at our URL", "unverified", () => sent({ audience: neighbour }, otherSecret)],
    ["a neighbour's name with our secret", "unverified", () => sent({ audience: neighbour })],
    ["our name at a neighbour's URL", "unverified", () => sent({}), neighbour],
    ["a namesake", "unverified", () => sent({ audience: { ...audience, uid: "f-0" } })],
    ["another key", "not held", () => sent({ key: random.oneOf([`${key}x`, "web/", key.slice(1)]) })],
    ["no key", "malformed", () => sent({ key: "" })],
    ["a stale token", "not held", () => sent({ token: randomUUID() })],
    ["no token", "malformed", () => sent({ token: random.oneOf([undefined, null, "", 1, [token]]) })],
    ["sent long ago", "unverified", () => sent({}, secret, now - (302 + random.below(1e6)) * 1_000)],
    ["sent from the future", "unverified", () => sent({}, secret, now + (302 + random.below(1e6)) * 1_000)],
    ["unknown fields", "malformed", () => sent({ [random.oneOf(["type", "status", "x"])]: 1 })],
    [
      "another outcome",
      "malformed",
      () => sent({ result: { outcome: random.oneOf(["", "accepted", "Done", null, 1]) } }),
    ],
    ["no result", "malformed", () => sent({ result: random.oneOf([undefined, null, 1, [], "ok"]) })],
    [
      "a call, sent back",
      "malformed",
      () => signedMessage(callAt(now, { audience, key, token }), token, scene),
    ],
    ["an answer, sent here", "malformed", () => signedMessage({ outcome: "done" }, token, scene)],
  ];
  const [what, refusal, way, named] = random.oneOf(ways);
  return { what, refusal, sent: way(), ...(named && { named }) };
}

it("none of 100,000 completions that are forged, stale, misdirected or malformed is taken", async () => {
  const random = pseudoRandom(44);
  const found = new Set<string>();
  for (let i = 0; i < 100_000; i++) {
    const completion: Completion = {
      audience,
      key: `web/ada-${i}`,
      token: `t-${i}`,
      result: { outcome: "done" },
    };
    const run = pending.expect(completion.token, { audience, key: completion.key, held: () => true });
    const genuine = signedMessage(completion, `c_${completion.token}`, scene);
    const mutant: Refused =
      random.fraction() < 0.4 ? astray(random, completion) : forgedMessage(random, genuine, scene);
    const { what, sent, named, refusal } = mutant;
    const outcome = await taken(sent, named);
    found.add(`${what} ${outcome}`);
    if (outcome !== (refusal ?? "unverified"))
      throw new Error(`${what}: ${outcome}: ${JSON.stringify(sent)}`);
    // The test can fail: the genuine one is taken, and once.
    if (i % 1_000 === 0) expect([await taken(genuine), await taken(genuine)]).toEqual(["taken", "not held"]);
    run.forget();
    if (i % 1_000 === 1) expect(await taken(genuine)).toBe("not held");
  }
  expect(found.size).toBeGreaterThan(35);
}, 300_000);
