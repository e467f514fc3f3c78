import { BodyRefusedError, readIncoming } from "@drover/runtime";
import type { Completion } from "@drover/webhook";
import type { HttpBindings } from "@hono/node-server";
import { type Context, Hono } from "hono";
import { largestAnswer } from "../calls/call-function.ts";
import type { Completing } from "./pending-runs.ts";
import {
  CompletionRefusedError,
  type CompletionRefusal,
  receiveCompletion,
  type SecretsOf,
} from "./received-completion.ts";

export interface CompletionAppParts {
  readonly secretsOf: SecretsOf;
  readonly complete: (completion: Completion) => Completing;
  /** Requests under way at once. */
  readonly most: number;
  /** Told what came of each, in one of few words. */
  readonly onOutcome: (outcome: string, why?: string) => void;
  /** Wall clock. */
  readonly now: () => number;
}

type Env = { Bindings: HttpBindings };

const statusOf = {
  unverified: 401,
  malformed: 400,
  unsupported: 415,
  "too large": 413,
  "not held": 409,
  unavailable: 503,
} as const satisfies Readonly<Record<CompletionRefusal, number>>;

const path = "/completions/:namespace/:name/:uid";

/**
 * `POST /completions/<namespace>/<name>/<uid>`, the function's, as `completionUrl` writes it: 204 when the result is
 * taken. 409 when its run is not held here any more, or has its result: the key is or was run again, and nothing is to
 * be sent for this token.
 */
export function completionApp(parts: CompletionAppParts): Hono<Env> {
  const { most, onOutcome } = parts;
  let underWay = 0;
  const app = new Hono<Env>();
  app
    .post(path, async (c) => {
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
  { secretsOf, complete, now }: CompletionAppParts,
  c: Context<Env, typeof path>,
): Promise<void> {
  if ((c.req.header("content-encoding") ?? "identity").toLowerCase() !== "identity") {
    throw new CompletionRefusedError("unsupported", "Send it without Content-Encoding.");
  }
  const [id, timestamp, signature] = ["id", "timestamp", "signature"].map((name) =>
    c.req.header(`webhook-${name}`),
  );
  const { namespace, name, uid } = c.req.param();
  const completion = await receiveCompletion({
    named: { name: `${namespace}/${name}`, uid },
    readBody: () => bodyOf(c),
    headers: { id, timestamp, signature },
    secretsOf,
    now: now(),
  });
  if (complete(completion) === "taken") return;
  const message =
    "No run with this token waits for a result here. Send nothing more for it: the key is run again.";
  throw new CompletionRefusedError("not held", message);
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
