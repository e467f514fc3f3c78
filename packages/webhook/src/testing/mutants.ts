import { createHmac } from "node:crypto";
import type { SignatureHeaders } from "../standard-webhooks.ts";
import { signMessage } from "../standard-webhooks.ts";
import type { PseudoRandom } from "@drover/random";

/** A message as it is sent. */
export interface SignedMessage {
  readonly headers: SignatureHeaders;
  readonly body: string;
}

/** A message that a receiver must refuse, and how it was made. */
export interface Mutant {
  readonly what: string;
  readonly sent: SignedMessage;
}

/** The secrets and the time with which messages are signed. */
export interface SigningContext {
  readonly secret: string;
  /** A secret that the receiver does not have. */
  readonly otherSecret: string;
  /** Wall clock, ms. */
  readonly now: number;
}

/** A message signed with the secret, under an id. */
export function signedMessage(
  body: object | string,
  id: string,
  { secret, now }: SigningContext,
  at = now,
): SignedMessage {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const headers = signMessage([secret], { id, at }, text);
  return {
    headers: {
      id,
      timestamp: headers["webhook-timestamp"],
      signature: headers["webhook-signature"],
    },
    body: text,
  };
}

/** A change of a genuine message that needs no knowledge of the secret. */
export function forgedMessage(
  random: PseudoRandom,
  { headers, body }: SignedMessage,
  scene: SigningContext,
): Mutant {
  const { id = "", timestamp = "", signature = "" } = headers;
  const withBody = (text: string): SignedMessage => ({ headers, body: text });
  const withHeaders = (more: Partial<SignatureHeaders>) => ({ headers: { ...headers, ...more }, body });
  const withSignature = (text: string | undefined) => withHeaders({ signature: text });
  const key = Buffer.from(scene.otherSecret.slice("whsec_".length), "base64");
  const content = `${id}.${timestamp}.${body}`;
  const ways: readonly (readonly [string, () => SignedMessage])[] = [
    ["a letter of the body", () => withBody(changed(random, body))],
    ["a letter more in the body", () => withBody(inserted(random, body))],
    ["a letter less in the body", () => withBody(removed(random, body))],
    ["blanks behind the body", () => withBody(body + " ".repeat(1 + random.below(3)))],
    ["no body", () => withBody("")],
    ["another id", () => withHeaders({ id: changed(random, id) })],
    ["another time", () => withHeaders({ timestamp: String(Number(timestamp) + 1 + random.below(290)) })],
    ["an earlier time", () => withHeaders({ timestamp: String(Number(timestamp) - 1 - random.below(290)) })],
    ["the same time, written otherwise", () => withHeaders({ timestamp: `0${timestamp}` })],
    ["a letter of the signature", () => withSignature(`v1,${changed(random, signature.slice(3))}`)],
    ["part of the signature", () => withSignature(signature.slice(0, random.below(signature.length)))],
    ["no signature", () => withSignature(random.oneOf(["", "v1,", "v1", ",", undefined]))],
    ["no id", () => withHeaders({ id: random.oneOf(["", undefined]) })],
    ["no time", () => withHeaders({ timestamp: random.oneOf(["", undefined, "NaN", "-1", "1e9"]) })],
    [
      "another kind of signature",
      () => withSignature(signature.replace("v1,", random.oneOf(["v1a,", "v2,", "V1,", "v1 ,", "v0,"]))),
    ],
    ["the signature twice, as two headers", () => withSignature(`${signature}, ${signature}`)],
    ["another secret", () => signedMessage(body, id, { ...scene, secret: scene.otherSecret })],
    ["a secret that is none", () => withSignature(`v1,${hmac("", content).digest("base64")}`)],
    [
      "the secret's text for a key",
      () => withSignature(`v1,${hmac(scene.otherSecret, content).digest("base64")}`),
    ],
    [
      "another digest",
      () => withSignature(`v1,${hmac(key, content, "sha512").digest("base64").slice(0, 43)}=`),
    ],
    ["thousands of signatures", () => withSignature(thousands)],
    [
      "the end of the id in the time",
      () => withHeaders({ id: id.slice(0, -1), timestamp: `${id.slice(-1)}${timestamp}` }),
    ],
    ["the time in the id", () => withHeaders({ id: `${id}.${timestamp}` })],
  ];
  const [what, way] = random.oneOf(ways);
  return { what: `forged: ${what}`, sent: way() };
}

const hmac = (key: string | Buffer, content: string, algorithm = "sha256") =>
  createHmac(algorithm, key).update(content);

const thousands = Array.from({ length: 10_000 }, () => `v1,${"A".repeat(43)}=`).join(" ");
const letters = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/=-_"{}[]:, ';

const oneOf = (random: PseudoRandom): string => letters.charAt(random.below(letters.length));
const at = (random: PseudoRandom, text: string): number => random.below(Math.max(1, text.length));

function changed(random: PseudoRandom, text: string): string {
  const i = at(random, text);
  const letter = oneOf(random);
  return letter === text[i] ? changed(random, text) : text.slice(0, i) + letter + text.slice(i + 1);
}
function inserted(random: PseudoRandom, text: string): string {
  const i = at(random, text);
  return text.slice(0, i) + oneOf(random) + text.slice(i);
}
function removed(random: PseudoRandom, text: string): string {
  const i = at(random, text);
  return text.slice(0, i) + text.slice(i + 1);
}
