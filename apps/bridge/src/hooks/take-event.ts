import { messageOf, type Milliseconds } from "@drover/controller";
import type { Wake, WorkQueue } from "@drover/queue";
import type { IncomingBody } from "@drover/runtime";
import type { EventIds } from "@drover/streams";
import { createHash, randomUUID } from "node:crypto";
import { parseBody } from "./event-body.ts";
import { EventRefusedError, unavailable } from "./event-refused.ts";
import type { Hook } from "./hook.ts";
import type { HookInUse } from "./hooks-in-use.ts";
import { type Find, namedKeys, textsAt, type VerifiedEvent } from "./named-keys.ts";
import type { SentHeaders } from "./sent-headers.ts";
import { verifyEvent } from "./verify-event.ts";

/** What came of an event that was answered with success. */
export interface Taken {
  readonly outcome: "accepted" | "repeated" | "nobody";
  readonly keys: number;
}

export interface SentEvent {
  readonly headers: SentHeaders;
  readonly body: IncomingBody;
}

export interface TakingParts {
  /** @throws when the controller is gone. */
  readonly queueOf: (controller: string) => Pick<WorkQueue, "wake">;
  readonly idsOf: (hook: Hook) => EventIds;
  readonly find: Find;
  /** Ids could not be looked up or recorded: what comes again wakes again, which is better than not at all. */
  readonly onTrouble: (hook: string, error: unknown) => void;
  /** Wall clock, which a sender's is compared with. */
  readonly now: () => Milliseconds;
}

/**
 * Takes an event for a hook: verified, then parsed, then told. It is answered when its wakes are in Redis. The id is
 * recorded after them: a crash in between repeats the wakes, and loses none.
 * @throws EventRefusedError
 */
export function eventTaker({ queueOf, idsOf, find, onTrouble, now }: TakingParts) {
  return async (inUse: HookInUse, { headers, body: incoming }: SentEvent): Promise<Taken> => {
    const { hook, secrets, rate, tell } = inUse;
    const { verify } = hook;
    const { body, signedId } = await verifyEvent({ verify, secrets, headers, body: incoming, now: now() });
    if (!rate.take()) throw throttled;
    const event: VerifiedEvent = { headers, body, signedId, content: parseBody(body) };
    const id = idOf(hook, event);
    return tell(async () => {
      const keys = await namedKeys(hook, event, find);
      if (keys.length === 0) return { outcome: "nobody", keys: 0 };
      const told = (outcome: Taken["outcome"]): Taken => ({ outcome, keys: keys.length });
      const wakes = (version: string) => keys.map((key) => wakeOf(hook, key, version));
      if (id === undefined) {
        await wake(queueOf, hook, wakes(randomUUID()));
        return told("accepted");
      }
      const mark = markOf(hook, id, body, keys);
      const ids = idsOf(hook);
      const trouble = (error: unknown): false => (onTrouble(hook.address, error), false);
      if (await ids.knows(mark).catch(trouble)) return told("repeated");
      await wake(queueOf, hook, wakes(mark));
      await ids.record(mark).catch(trouble);
      return told("accepted");
    });
  };
}

const throttled = new EventRefusedError(
  "throttled",
  "More events came than this hook takes. Send it again in a second.",
);

const longestId = 500;

function idOf({ id: place }: Hook, event: VerifiedEvent): string | undefined {
  if (place === undefined) return event.signedId;
  const [id = "", ...more] = textsAt(place, event);
  if (id === "" || id.length > longestId || more.length > 0) {
    throw new EventRefusedError(
      "malformed",
      `The event has not one id where the hook wants it, a text of 1 to ${longestId} characters. Send it.`,
    );
  }
  return id;
}

/**
 * By what a repetition is known: the same id, the same body and the same keys. An id that no signature covers could
 * otherwise be used up by somebody who sends an old event under it, and the event whose id it is would wake nobody.
 */
function markOf({ controller, name }: Hook, id: string, body: Uint8Array, keys: readonly string[]): string {
  const head = JSON.stringify([controller, name, id, keys.toSorted()]);
  return createHash("sha256").update(head).update("\n").update(body).digest("base64url");
}

const wakeOf = ({ name }: Hook, key: Wake["key"], version: string): Wake => ({
  key,
  kind: `hook:${name}`,
  // No number: it says only that this is another event than the last one.
  resourceVersion: version,
  reason: `Hook ${name}`,
  class: "change",
});

/** @throws EventRefusedError when the controller was taken away meanwhile. */
async function wake(
  queueOf: TakingParts["queueOf"],
  { controller }: Hook,
  wakes: readonly Wake[],
): Promise<void> {
  try {
    await queueOf(controller).wake(wakes);
  } catch (error) {
    throw unavailable(messageOf(error));
  }
}
