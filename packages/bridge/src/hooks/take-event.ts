import { messageOf, type Milliseconds } from "@drover/controller";
import type { Wake, WorkQueue } from "@drover/queue";
import type { IncomingBody } from "@drover/runtime";
import type { EventIds } from "./event-ids.ts";
import { MessageRefusedError, unavailable } from "@drover/webhook";
import { createHash, randomUUID } from "node:crypto";
import { parseBody } from "./event-body.ts";
import type { Hook } from "./hook.ts";
import type { HookInUse } from "./hooks-in-use.ts";
import { type FindKeys, namedKeys, eventTexts, type VerifiedEvent } from "./named-keys.ts";
import type { SentHeaders } from "./verification/sent-headers.ts";
import { verifyEvent } from "./verification/verify-event.ts";

/** The result of an event that was answered with success. */
export interface EventResult {
  readonly outcome: "accepted" | "repeated" | "nobody";
  readonly keys: number;
}

export interface IncomingEvent {
  readonly headers: SentHeaders;
  readonly body: IncomingBody;
}

export interface EventTakerOptions {
  /** @throws if the controller is no longer registered. */
  readonly queueOf: (controller: string) => Pick<WorkQueue, "wake">;
  readonly idsOf: (hook: Hook) => EventIds;
  readonly find: FindKeys;
  /**
   * Called when ids could not be looked up or recorded. A repetition then wakes its keys again, which is better than no
   * wake.
   */
  readonly onIdsFailed: (hook: string, error: unknown) => void;
  /** Wall clock, for comparison with a sender's timestamps. */
  readonly now: () => Milliseconds;
}

/**
 * Processes an event for a hook: verifies it, parses it, and wakes its keys. Resolves when the wakes are in Redis. The
 * id is recorded after them: a crash in between repeats the wakes, and loses none.
 * @throws MessageRefusedError
 */
export function eventTaker({ queueOf, idsOf, find, onIdsFailed, now }: EventTakerOptions) {
  return async (inUse: HookInUse, { headers, body: incoming }: IncomingEvent): Promise<EventResult> => {
    const { hook, secrets, rate, call } = inUse;
    const { verify } = hook;
    const { body, signedId } = await verifyEvent({ verify, secrets, headers, body: incoming, now: now() });
    if (!rate.take()) throw throttled;
    const event: VerifiedEvent = { headers, body, signedId, content: parseBody(body) };
    const id = idOf(hook, event);
    return call(async () => {
      const keys = await namedKeys(hook, event, find);
      if (keys.length === 0) return { outcome: "nobody", keys: 0 };
      const result = (outcome: EventResult["outcome"]): EventResult => ({ outcome, keys: keys.length });
      const wakes = (version: string) => keys.map((key) => wakeOf(hook, key, version));
      if (id === undefined) {
        await wake(queueOf, hook, wakes(randomUUID()));
        return result("accepted");
      }
      const mark = deduplicationKey(hook, id, body, keys);
      const ids = idsOf(hook);
      const trouble = (error: unknown): false => (onIdsFailed(hook.address, error), false);
      if (await ids.has(mark).catch(trouble)) return result("repeated");
      await wake(queueOf, hook, wakes(mark));
      await ids.record(mark).catch(trouble);
      return result("accepted");
    });
  };
}

const throttled = new MessageRefusedError(
  "throttled",
  "The rate limit of this hook is exceeded. Send the event again in a second.",
);

const longestId = 500;

function idOf({ id: place }: Hook, event: VerifiedEvent): string | undefined {
  if (place === undefined) return event.signedId;
  const [id = "", ...more] = eventTexts(place, event);
  if (id === "" || id.length > longestId || more.length > 0) {
    throw new MessageRefusedError(
      "malformed",
      `The event must have exactly one id where the hook declares it, a text of 1 to ${longestId} characters.`,
    );
  }
  return id;
}

/**
 * Identifies a repetition: the same id, body and keys. If the id alone counted, and no signature covers it, a sender
 * could replay an old event under a new id. The genuine event with that id would then count as a repetition and wake no
 * key.
 */
function deduplicationKey(
  { controller, name }: Hook,
  id: string,
  body: Uint8Array,
  keys: readonly string[],
): string {
  const head = JSON.stringify([controller, name, id, keys.toSorted()]);
  return createHash("sha256").update(head).update("\n").update(body).digest("base64url");
}

const wakeOf = ({ name }: Hook, key: Wake["key"], version: string): Wake => ({
  key,
  kind: `hook:${name}`,
  // Not a number: it only distinguishes this event from the previous one.
  resourceVersion: version,
  reason: `Hook ${name}`,
  class: "change",
});

/** @throws MessageRefusedError if the controller is no longer registered. */
async function wake(
  queueOf: EventTakerOptions["queueOf"],
  { controller }: Hook,
  wakes: readonly Wake[],
): Promise<void> {
  try {
    await queueOf(controller).wake(wakes);
  } catch (error) {
    throw unavailable(messageOf(error));
  }
}
