import { randomUUID } from "node:crypto";
import type { Call } from "../call.ts";
import {
  forgedMessage,
  type Mutant,
  type SigningContext,
  signedMessage,
  type SignedMessage,
} from "./mutants.ts";
import type { PseudoRandom } from "@drover/random";

/** A call as the gateway makes it now. */
export function callAt(now: number, more: Partial<Call> = {}): Call {
  const name = `ada-${randomUUID().slice(0, 8)}`;
  return {
    type: "dev.drover.reconcile.v2",
    audience: { name: "web/greetings", uid: "f-1" },
    kind: { group: "examples.drover.dev", version: "v1", kind: "Greeting" },
    key: `web/${name}`,
    uid: `uid-${name}`,
    generation: 3,
    token: randomUUID(),
    deadline: new Date(now + 60_000).toISOString(),
    reasons: ["Modified"],
    fails: 0,
    object: {
      apiVersion: "examples.drover.dev/v1",
      kind: "Greeting",
      metadata: { name, namespace: "web", uid: `uid-${name}`, resourceVersion: "1000", generation: 3 },
      spec: { name: "Ada" },
    },
    ...more,
  };
}

/** Correctly signed calls that are refused: the gateway's own calls that went astray, or came too late. */
export function invalidCall(random: PseudoRandom, call: Call, scene: SigningContext): Mutant {
  const { now } = scene;
  const { audience, token } = call;
  const sent = (more: object, id = token, at = now): SignedMessage =>
    signedMessage({ ...call, ...more }, id, scene, at);
  const to = (more: object): SignedMessage => sent({ audience: { ...audience, ...more } });
  const text = (body: string): SignedMessage => signedMessage(body, token, scene);
  const [namespace = "", name = ""] = audience.name.split("/");
  const seconds = (least: number, span: number): number => (least + random.below(span)) * 1_000;
  const over = (): string => new Date(now - 1 - random.below(1e9)).toISOString();
  const ways: readonly (readonly [string, () => SignedMessage])[] = [
    ["misdirected: another function", () => to({ name: `${namespace}/other` })],
    ["misdirected: another namespace", () => to({ name: `other/${name}` })],
    ["misdirected: a namesake", () => to({ uid: "f-0" })],
    ["misdirected: almost", () => to({ name: random.oneOf(almost(audience.name)) })],
    [
      "misdirected: no function",
      () => sent({ audience: random.oneOf([undefined, null, [audience], audience.name, {}]) }),
    ],
    ["expired: sent long ago", () => sent({}, token, now - seconds(302, 1e6))],
    ["expired: sent from the future", () => sent({}, token, now + seconds(302, 1e6))],
    ["expired: its deadline is over", () => sent({ deadline: over() })],
    ["expired: no deadline", () => sent({ deadline: random.oneOf([...noTimes, now + 60_000]) })],
    ["another token than the id", () => sent({}, randomUUID())],
    ["no token", () => sent({ token: random.oneOf([undefined, "", null, 1]) })],
    ["another type", () => sent({ type: random.oneOf(invalidTypes) })],
    ["no object", () => sent({ object: random.oneOf([undefined, null, [], {}, { metadata: {} }, "ada"]) })],
    ["not a call", () => text(random.oneOf(notCalls))],
    ["__proto__", () => text(JSON.stringify(call).replace('"spec":', '"__proto__":{"a":1},"spec":'))],
  ];
  const [what, way] = random.oneOf(ways);
  return { what, sent: way() };
}

const almost = (name: string): readonly string[] => [
  ...[`${name} `, name.toUpperCase(), `/${name}`, `${name}\u0000`, name.slice(name.indexOf("/") + 1), ""],
];
const noTimes = [undefined, null, "", "soon", "2999"];
const notCalls = ["{}", "[]", "null", "0", '""', "", "{", "[".repeat(5_000)];
const invalidTypes = ["dev.drover.reconcile.v1", "", undefined, null, "dev.drover.Reconcile.v2"];

/** A mutant of either sort. */
export function callMutant(random: PseudoRandom, call: Call, scene: SigningContext): Mutant {
  if (random.fraction() < 0.4) return invalidCall(random, call, scene);
  return forgedMessage(random, signedMessage(call, call.token, scene), scene);
}
