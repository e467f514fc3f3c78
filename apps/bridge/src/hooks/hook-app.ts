import type { Admission } from "@drover/runtime";
import type { HttpBindings } from "@hono/node-server";
import { type Context, Hono } from "hono";
import { largestEvent, refuseForm } from "./event-body.ts";
import { EventRefusedError, type Refusal, statusOf, unavailable, unverified } from "./event-refused.ts";
import type { HookInUse, HooksInUse } from "./hooks-in-use.ts";
import { sentHeaders } from "./sent-headers.ts";
import type { SentEvent, Taken } from "./take-event.ts";

export interface HookAppParts {
  readonly hooks: HooksInUse;
  readonly take: (inUse: HookInUse, event: SentEvent) => Promise<Taken>;
  readonly admission: Admission;
  /** Told of every event, with the name of its hook if there is such a one. */
  readonly onTaken: (hook: string, taken: Taken) => void;
  readonly onRefused: (hook: string | undefined, refused: EventRefusedError) => void;
  readonly onError: (error: unknown) => void;
}

type Env = { Bindings: HttpBindings };

/** Seconds after which to send again. */
const retryAfter: Partial<Record<Refusal, string>> = { throttled: "1", unavailable: "5" };

/**
 * `POST /hooks/<name>`: 204 when the event's wakes are in Redis, also when it named nobody or came again.
 *
 * A hook that there is not is answered as a wrong signature is, 401: who guesses names learns nothing, and a sender whose
 * hook comes back a moment later (a function that is deployed anew) has not been told that it is gone for good, as by 404
 * or 410, at which some give up.
 */
export function hookApp({ hooks, take, admission, onTaken, onRefused, onError }: HookAppParts): Hono<Env> {
  const receive = async (name: string, { env: { incoming } }: Context<Env>): Promise<Taken> => {
    const headers = sentHeaders(incoming.rawHeaders);
    refuseForm(headers);
    if (!hooks.areKnown()) throw unavailable("it is not known yet which hooks there are");
    const inUse = hooks.of(name);
    if (inUse === undefined) throw unverified("there is no such hook");
    const body = admission.body(incoming, { most: largestEvent, group: name });
    try {
      return await take(inUse, { headers, body });
    } finally {
      body.release();
    }
  };
  const app = new Hono<Env>();
  app
    .post("/hooks/:name", async (c) => {
      const name = c.req.param("name");
      try {
        onTaken(name, await receive(name, c));
        return c.body(null, 204);
      } catch (error) {
        if (!(error instanceof EventRefusedError)) throw error;
        onRefused(hooks.of(name)?.hook.name, error);
        return answer(c, error);
      }
    })
    .all("/hooks/:name", (c) => c.json({ error: "Events are sent with POST." }, 405, { allow: "POST" }))
    .notFound((c) => c.json({ error: "Events are sent to /hooks/<name>." }, 404))
    .onError((error, c) => {
      onError(error);
      return c.json({ error: "The event could not be taken. Send it again later." }, 500);
    });
  return app;
}

function answer(c: Context<Env>, { refusal, message }: EventRefusedError): Response {
  const after = retryAfter[refusal];
  if (after !== undefined) c.header("retry-after", after);
  if (refusal === "unverified") c.header("www-authenticate", "Webhook");
  // What was not read is not waited for.
  if (!c.env.incoming.complete) c.header("connection", "close");
  return c.json({ error: message }, statusOf[refusal]);
}
