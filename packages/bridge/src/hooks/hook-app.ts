import { type Admission, receiveMessage, refusalResponse, refuseForm } from "@drover/runtime";
import { MessageRefusedError, unavailable, unverified } from "@drover/webhook";
import type { HttpBindings } from "@hono/node-server";
import { type Context, Hono } from "hono";
import { largestEvent, refuseType } from "./event-body.ts";
import type { HookInUse, HooksInUse } from "./hooks-in-use.ts";
import { sentHeaders } from "./verification/sent-headers.ts";
import type { IncomingEvent, EventResult } from "./take-event.ts";

export interface HookAppParts {
  readonly hooks: HooksInUse;
  readonly take: (inUse: HookInUse, event: IncomingEvent) => Promise<EventResult>;
  readonly admission: Admission;
  /** Called for every accepted event, with the address of its hook. */
  readonly onTaken: (hook: string, taken: EventResult) => void;
  readonly onRefused: (hook: string | undefined, refused: MessageRefusedError) => void;
  readonly onError: (error: unknown) => void;
}

const path = "/hooks/:namespace/:fn/:hook";

type Env = { Bindings: HttpBindings };

/**
 * `POST /hooks/<namespace>/<function>/<hook>`: 204 when the event's wakes are in Redis, also if it named no object or
 * is a repetition.
 *
 * A hook that does not exist is answered like a wrong signature, with 401. So guessing names reveals nothing. And if
 * a hook is missing for a moment (its function is being deployed again), its sender does not receive 404 or 410, at
 * which some senders stop for good.
 */
export function hookApp({ hooks, take, admission, onTaken, onRefused, onError }: HookAppParts): Hono<Env> {
  const receive = async (address: string, { env: { incoming } }: Context<Env>): Promise<EventResult> => {
    const headers = sentHeaders(incoming.rawHeaders);
    refuseForm(incoming, largestEvent);
    refuseType(headers);
    if (!hooks.areKnown()) throw unavailable("the hooks have not been read yet");
    const inUse = hooks.of(address);
    if (inUse === undefined) throw unverified("there is no such hook");
    const limits = { admission, most: largestEvent, group: address };
    return receiveMessage(incoming, limits, (body) => take(inUse, { headers, body }));
  };
  const app = new Hono<Env>();
  app
    .post(path, async (c) => {
      // No part of a hook's address contains a slash, so a request with an escaped slash matches no hook.
      const { namespace, fn, hook } = c.req.param();
      const address = [namespace, fn, hook].join("/");
      try {
        onTaken(address, await receive(address, c));
        return c.body(null, 204);
      } catch (error) {
        if (!(error instanceof MessageRefusedError)) throw error;
        onRefused(hooks.of(address)?.hook.address, error);
        return refusalResponse(c.env.incoming, error);
      }
    })
    .all(path, (c) => c.json({ error: "Events are sent with POST." }, 405, { allow: "POST" }))
    .notFound((c) => c.json({ error: "Events are sent to /hooks/<namespace>/<function>/<hook>." }, 404))
    .onError((error, c) => {
      onError(error);
      return c.json({ error: "The event could not be accepted. Send it again later." }, 500);
    });
  return app;
}
