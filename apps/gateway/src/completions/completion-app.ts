import { type Admission, receiveMessage, refusalResponse, refuseForm } from "@drover/runtime";
import { type Completion, MessageRefusedError, readSignatureHeaders } from "@drover/webhook";
import type { HttpBindings } from "@hono/node-server";
import { type Context, Hono } from "hono";
import { maxAnswerBytes } from "@drover/calls";
import type { CompletionOutcome } from "@drover/calls";
import { receiveCompletion, type SecretsLookup } from "./received-completion.ts";

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

/** The `retry-after` header: a run waits for the completion. */
const retryAfter = { unavailable: 1 };

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
        if (!(error instanceof MessageRefusedError)) throw error;
        onOutcome(error.refusal, error.why);
        return refusalResponse(c.env.incoming, error, retryAfter);
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
  const { incoming } = c.env;
  refuseForm(incoming, maxAnswerBytes);
  const headers = readSignatureHeaders((header) => c.req.header(header));
  const { namespace, name, uid } = c.req.param();
  const named = { name: `${namespace}/${name}`, uid };
  const limits = { admission, most: maxAnswerBytes, group: `${named.name} ${uid}` };
  const completion = await receiveMessage(incoming, limits, (body) =>
    receiveCompletion({ named, headers, body, secretsOf, now: now() }),
  );
  if (complete(completion) === "taken") return;
  throw new MessageRefusedError(
    "not held",
    "No run with this token waits for a result here. Send nothing more for it: the key is run again.",
  );
}
