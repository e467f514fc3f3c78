/** The function under test, and the calls that it gets. */
import { type IncomingMessage, request } from "node:http";
import { isDeepStrictEqual } from "node:util";
import {
  type Answer,
  type Call,
  callSchema,
  readAnswer,
  readSignatureHeaders,
  signatureProblem,
} from "../src/index.ts";
import { callAt, callMutant } from "../src/testing/call-mutants.ts";
import { type SigningContext, signedMessage, type SignedMessage } from "../src/testing/mutants.ts";
import { pseudoRandom } from "@drover/random";

/** Where the function is, and what it shares with its gateway. */
export interface Subject {
  readonly url: string;
  readonly secret: string;
  readonly audience: Call["audience"];
  readonly mutants: number;
  readonly seed: number;
}

/** An ability that some languages' packages do not have. */
export type Ability = "integers of 64 bits" | "many strangers";

/** One thing that is to be so. Throws when it is not. */
export interface Check {
  readonly name: string;
  readonly needs?: Ability;
  readonly run: (subject: Subject) => Promise<void>;
}

interface HttpReply {
  readonly status: number;
  readonly body: Uint8Array;
  readonly headers: Headers;
}

const otherSecret = `whsec_${Buffer.alloc(24, 7).toString("base64")}`;
export const signingContextOf = ({ secret }: Subject): SigningContext => ({
  secret,
  otherSecret,
  now: Date.now(),
});
export const callOf = (
  { audience }: Subject,
  spec: object = { name: "Ada", count: true },
  more: Partial<Call> = {},
): Call => {
  const call = callAt(Date.now(), { audience, ...more });
  return callSchema.parse({ ...call, object: { ...call.object, spec } });
};

/** Each over a connection of its own: some functions close it as they like. */
export async function deliver(
  { url }: Subject,
  { headers, body }: SignedMessage,
  more: Record<string, string> = {},
): Promise<HttpReply> {
  const signature = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[`webhook-${name}`, String(value)] as const],
  );
  const bytes = Buffer.from(body);
  const own = { "content-type": "application/json", "content-length": String(bytes.byteLength) };
  const sent = request(url, {
    method: "POST",
    agent: false,
    headers: { ...own, ...Object.fromEntries(signature), ...more },
  }).end(bytes);
  const reply = await new Promise<IncomingMessage>((resolve, reject) => {
    sent.on("response", resolve).on("error", reject);
  });
  const pieces = await Array.fromAsync<Buffer>(reply);
  const given = Object.entries(reply.headers).map(([name, value]): [string, string] => [name, String(value)]);
  return { status: reply.statusCode ?? 0, body: Buffer.concat(pieces), headers: new Headers(given) };
}

/** Sends a call, signed as the gateway signs it. */
export const sendCall = (subject: Subject, call: Call, at = Date.now()): Promise<HttpReply> =>
  deliver(subject, signedMessage(call, call.token, signingContextOf(subject), at));

export function expectEqual(found: unknown, wanted: unknown, what: string): void {
  if (isDeepStrictEqual(found, wanted)) return;
  throw new Error(`${what} is ${JSON.stringify(found)}, not ${JSON.stringify(wanted)}`);
}

/** The answer, signed under the call's id. */
export function answerIn({ secret }: Subject, { token: id }: Call, reply: HttpReply): Answer {
  expectSigned(secret, id, reply);
  const read = readAnswer(reply.body);
  if (!read.ok) throw new Error(`${read.problem}: ${Buffer.from(reply.body).toString()}`);
  return read.message;
}

/** The answer with this outcome. */
export function outcomeIn<Outcome extends Answer["outcome"]>(
  subject: Subject,
  call: Call,
  reply: HttpReply,
  outcome: Outcome,
): Extract<Answer, { outcome: Outcome }> {
  const answer = answerIn(subject, call, reply);
  if (hasOutcome(answer, outcome)) return answer;
  throw new Error(`its outcome is ${answer.outcome}, not ${outcome}: ${Buffer.from(reply.body).toString()}`);
}

const hasOutcome = <Outcome extends Answer["outcome"]>(
  answer: Answer,
  outcome: Outcome,
): answer is Extract<Answer, { outcome: Outcome }> => answer.outcome === outcome;

function expectSigned(secret: string, id: string, reply: HttpReply): void {
  const problem = problemOf(secret, id, reply);
  if (problem !== undefined) throw new Error(`its answer, ${reply.status}, is not signed: ${problem}`);
}

function problemOf(secret: string, id: string, { body, headers }: HttpReply): string | undefined {
  const sent = readSignatureHeaders((name) => headers.get(name) ?? undefined);
  return signatureProblem({ headers: sent, body, secrets: [secret], id, now: Date.now() });
}

/** Those of the secrets with which an answer is signed. */
export const signersOf = (reply: HttpReply, { token }: Call, secrets: readonly string[]) =>
  secrets.filter((secret) => problemOf(secret, token, reply) === undefined);

/** Sends mutants of a call. Each must be refused, without a signature. */
export async function expectRefused(subject: Subject, call: () => Call): Promise<void> {
  const random = pseudoRandom(subject.seed);
  for (let i = 0; i < subject.mutants; i++) {
    const { what, sent } = callMutant(random, call(), signingContextOf(subject));
    // Other tests, in one process, cover the values that HTTP cannot carry, or cuts off.
    const { id, timestamp, signature } = sent.headers;
    if ([id, timestamp, signature].some((value = "") => !/^(\S([ -~]{0,8000}\S)?)?$/.test(value))) continue;
    const { status, headers } = await deliver(subject, sent);
    if (status < 400 || status >= 500 || headers.has("webhook-signature"))
      throw new Error(`${what}: it answered ${status} to ${JSON.stringify(sent)}`);
  }
}
