import { BodyRefusedError, readIncoming } from "@drover/runtime";
import {
  type Audience,
  type Claim,
  claimIn,
  type Completion,
  completionSchema,
  hasProto,
  parseJson,
  type RememberedSecrets,
  UnreadableJsonError,
  UnsignedError,
} from "@drover/webhook";
import type { HttpBindings } from "@hono/node-server";
import { type Context, Hono } from "hono";
import { largestAnswer } from "../calls/call-function.ts";
import type { Completing } from "./pending-runs.ts";

export interface CompletionAppParts {
  readonly secretsOf: (audience: Audience) => RememberedSecrets | undefined;
  readonly complete: (completion: Completion) => Completing;
  /** Requests under way at once. */
  readonly most: number;
  /** Told what came of each, in one of few words. */
  readonly onOutcome: (outcome: string, why?: string) => void;
  /** Wall clock. */
  readonly now: () => number;
}

type Env = { Bindings: HttpBindings };

/** A completion that is not taken, and the status that says so. */
class CompletionRefusedError extends Error {
  override readonly name = "CompletionRefusedError";
  readonly outcome: keyof typeof statusOf;
  readonly why: string;
  constructor(outcome: keyof typeof statusOf, message: string, why = message) {
    super(message);
    this.outcome = outcome;
    this.why = why;
  }
}

const statusOf = {
  unverified: 401,
  malformed: 400,
  unsupported: 415,
  "too large": 413,
  "not held": 409,
  unavailable: 503,
} as const;

/**
 * `POST /completions`: 204 when the result is taken. 409 when its run is not held here any more, or has its result: the
 * key is or was run again, and nothing is to be sent for this token.
 */
export function completionApp(parts: CompletionAppParts): Hono<Env> {
  const { most, onOutcome } = parts;
  let underWay = 0;
  const app = new Hono<Env>();
  app
    .post("/completions", async (c) => {
      try {
        if (underWay >= most)
          throw new CompletionRefusedError("unavailable", "Too many at once. Send it again.");
        underWay++;
        try {
          await take(parts, c);
        } finally {
          underWay--;
        }
        onOutcome("taken");
        return c.body(null, 204);
      } catch (error) {
        if (!(error instanceof CompletionRefusedError)) throw error;
        onOutcome(error.outcome, error.why);
        if (error.outcome === "unavailable") c.header("retry-after", "1");
        // What was not read is not waited for.
        if (!c.env.incoming.complete) c.header("connection", "close");
        return c.json({ error: error.message }, statusOf[error.outcome]);
      }
    })
    .notFound((c) => c.json({ error: "Completions are sent to /completions, with POST." }, 404))
    .onError((error, c) => {
      onOutcome("failed", error.message);
      return c.json({ error: "The completion could not be taken. Send it again." }, 500);
    });
  return app;
}

async function take({ secretsOf, complete, now }: CompletionAppParts, c: Context<Env>): Promise<void> {
  const header = (name: string): string | undefined => c.req.header(name);
  if ((header("content-encoding") ?? "identity").toLowerCase() !== "identity") {
    throw new CompletionRefusedError("unsupported", "Send it without Content-Encoding.");
  }
  const claim = claimOf(header, now());
  const body = await bodyOf(c);
  // Who sends it is in what is not verified yet: it only says with which secret it must be signed.
  const value = valueOf(body);
  const completion = completionSchema.safeParse(value);
  const secrets = completion.success ? secretsOf(completion.data.audience) : undefined;
  if (!completion.success || secrets === undefined || hasProto(value)) throw unverified("no such function");
  if (!(await isMade(claim, body, secrets))) throw unverified("no secret fits");
  if (complete(completion.data) === "not held") {
    const message =
      "No run with this token waits for a result here. Send nothing more for it: the key is run again.";
    throw new CompletionRefusedError("not held", message);
  }
}

async function isMade(claim: Claim, body: Uint8Array, secrets: RememberedSecrets): Promise<boolean> {
  const isGood = (all: readonly string[]): boolean =>
    all.filter((secret) => claim.isMadeWith(secret, body)).length > 0;
  const unavailable = (): never => {
    throw new CompletionRefusedError("unavailable", "The secret cannot be read now. Send it again.");
  };
  const used = await secrets.now().catch(unavailable);
  if (isGood(used)) return true;
  const newer = await secrets.newerThan(used).catch(unavailable);
  return newer !== undefined && isGood(newer);
}

function claimOf(header: (name: string) => string | undefined, now: number): Claim {
  const [id, timestamp, signature] = [
    header("webhook-id"),
    header("webhook-timestamp"),
    header("webhook-signature"),
  ];
  try {
    return claimIn({ id, timestamp, signature }, now);
  } catch (error) {
    throw error instanceof UnsignedError ? unverified(error.message) : error;
  }
}

async function bodyOf({ env: { incoming } }: Context<Env>): Promise<Uint8Array> {
  try {
    return await readIncoming(incoming, largestAnswer);
  } catch (error) {
    if (!(error instanceof BodyRefusedError)) throw error;
    throw error.why === "too large"
      ? new CompletionRefusedError("too large", `A completion has at most ${largestAnswer} bytes.`)
      : new CompletionRefusedError("malformed", "The body was cut off, or took too long. Send it again.");
  }
}

function valueOf(body: Uint8Array): unknown {
  try {
    return parseJson(body);
  } catch (error) {
    if (!(error instanceof UnreadableJsonError)) throw error;
    throw new CompletionRefusedError("malformed", `The body ${error.message}. Send a completion.`);
  }
}

/** The same words for a function that there is not: who guesses learns nothing. */
const unverified = (why: string): CompletionRefusedError =>
  new CompletionRefusedError(
    "unverified",
    "The completion is not signed as a function's that is called here, or is none. Check the secret, the body and the clock.",
    why,
  );
