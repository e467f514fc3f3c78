import { type Admission, BodyRefusedError } from "@drover/runtime";
import { type Completion, readSignatureHeaders } from "@drover/webhook";
import type { HttpBindings } from "@hono/node-server";
import { type Context, Hono } from "hono";
import { maxAnswerBytes } from "../calls/call-function.ts";
import type { CompletionOutcome } from "./pending-runs.ts";
import {
  CompletionRefusedError,
  type CompletionRefusal,
  receiveCompletion,
  type SecretsLookup,
} from "./received-completion.ts";

export interface CompletionAppOptions {
  readonly secretsOf: SecretsLookup;
  readonly complete: (completion: Completion) => CompletionOutcome;
  readonly admission: Admission;
  /** Called with the outcome of each completion, which is one of a few words, and with the reason of a refusal. */
  readonly onOutcome: (outcome: string, why?: string) => void;
  /** Wall clock, ms. */
  readonly now: () => number;
}

type Env = { Bindings: HttpBindings };

const httpStatusByRefusal = {
  unverified: 401,
  malformed: 400,
  unsupported: 415,
  "too large": 413,
  "not held": 409,
  unavailable: 503,
} as const satisfies Readonly<Record<CompletionRefusal, number>>;

const path = "/completions/:namespace/:name/:uid";

/**
 * Serves `POST /completions/<namespace>/<name>/<uid>`, the path of the function, as `completionUrl` writes it. 204: the
 * result was taken. 409: its run is no longer held here, or already has a result. Then the key has run again or will,
 * and the sender must send nothing more for this token.
 */
export function completionApp(parts: CompletionAppOptions): Hono<Env> {
  const { onOutcome } = parts;
  const app = new Hono<Env>();
  app
    .post(path, async (c) => {
      try {
        await take(parts, c);
        onOutcome("taken");
        return c.body(null, 204);
      } catch (error) {
        if (!(error instanceof CompletionRefusedError)) throw error;
        onOutcome(error.outcome, error.why);
        if (error.outcome === "unavailable") c.header("retry-after", "1");
        // Closes the connection instead of waiting for the rest of the body.
        if (!c.env.incoming.complete) c.header("connection", "close");
        return c.json({ error: error.message }, httpStatusByRefusal[error.outcome]);
      }
    })
    .notFound((c) =>
      c.json({ error: "Send a completion to the URL that the call names as complete, with POST." }, 404),
    )
    .onError((error, c) => {
      onOutcome("failed", error.message);
      return c.json({ error: "The completion could not be taken. Send it again." }, 500);
    });
  return app;
}

async function take(
  { admission, secretsOf, complete, now }: CompletionAppOptions,
  c: Context<Env, typeof path>,
): Promise<void> {
  if ((c.req.header("content-encoding") ?? "identity").toLowerCase() !== "identity") {
    throw new CompletionRefusedError("unsupported", "Send it without Content-Encoding.");
  }
  const headers = readSignatureHeaders((header) => c.req.header(header));
  const { namespace, name, uid } = c.req.param();
  const named = { name: `${namespace}/${name}`, uid };
  const body = admission.body(c.env.incoming, { most: maxAnswerBytes, group: `${named.name} ${uid}` });
  try {
    const completion = await receiveCompletion({ named, headers, body, secretsOf, now: now() });
    if (complete(completion) === "taken") return;
  } catch (error) {
    throw error instanceof BodyRefusedError ? bodyRefusal(error) : error;
  } finally {
    body.release();
  }
  const message =
    "No run with this token waits for a result here. Send nothing more for it: the key is run again.";
  throw new CompletionRefusedError("not held", message);
}

/** The sender gets the message only if a body is too large; otherwise its connection is closed. */
function bodyRefusal({ why, message }: BodyRefusedError): CompletionRefusedError {
  switch (why) {
    case "too large":
      return new CompletionRefusedError("too large", `A completion has at most ${maxAnswerBytes} bytes.`);
    case "cut off":
    case "too slow":
      return new CompletionRefusedError("malformed", "The body was cut off, or came too slowly.", message);
    case "displaced":
      return new CompletionRefusedError("unavailable", "Too many at once. Send it again.", message);
  }
}
