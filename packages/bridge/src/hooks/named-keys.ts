import { type ObjectKey, tryParseObjectKey, splitObjectKey, valuesAt } from "@drover/controller";
import { MessageRefusedError } from "@drover/webhook";
import type { Hook, EventLocation } from "./hook.ts";
import type { SentHeaders } from "./verification/sent-headers.ts";

/** The most keys that one event may wake. */
const mostKeys = 1_000;

/** An event after verification. */
export interface VerifiedEvent {
  readonly headers: SentHeaders;
  readonly body: Uint8Array;
  readonly content: unknown;
  /** The id that the signature covers, if any. */
  readonly signedId: string | undefined;
}

/**
 * Finds the objects of a hook's kind that a value in an event names. It may read Redis, under the time limit of the
 * wake.
 */
export type FindKeys = (hook: Hook, value: string) => Promise<readonly ObjectKey[]>;

/**
 * The keys that an event names, each once, within the hook's reach. A value that does not form a valid key names no
 * object.
 * @throws MessageRefusedError if there are too many.
 */
export async function namedKeys(
  hook: Hook,
  event: VerifiedEvent,
  find: FindKeys,
): Promise<readonly ObjectKey[]> {
  const values = new Set(eventTexts(hook.names, event));
  if (values.size > mostKeys) throw tooMany(values.size);
  const found = await Promise.all([...values].map((value) => find(hook, value)));
  const keys = new Set(found.flat().filter((key) => isWithin(hook, key)));
  if (keys.size > mostKeys) throw tooMany(keys.size);
  return [...keys];
}

/** The value is the object's name, preceded by its namespace if the hook does not set it. */
export const findByName: FindKeys = ({ for: { namespaced }, namespace }, value) => {
  const text = namespaced && namespace !== undefined ? `${namespace}/${value}` : value;
  const key = tryParseObjectKey(text);
  const fits = key !== undefined && (splitObjectKey(key).namespace !== undefined) === namespaced;
  return Promise.resolve(fits ? [key] : []);
};

/** The string values at a place of an event. */
export function eventTexts(place: EventLocation, { headers, content }: VerifiedEvent): readonly string[] {
  const found = "header" in place ? [headers.one(place.header)] : valuesAt(content, place.field);
  return found.filter((value) => typeof value === "string");
}

function isWithin({ reach }: Hook, key: ObjectKey): boolean {
  const { namespace } = splitObjectKey(key);
  return reach === undefined || (namespace !== undefined && reach.includes(namespace));
}

const tooMany = (count: number): MessageRefusedError =>
  new MessageRefusedError(
    "too many keys",
    `An event may name at most ${mostKeys} objects, not ${count}. Send it in parts.`,
  );
