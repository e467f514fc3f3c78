import { raceAbort } from "@drover/timers";
import { messageOf } from "@drover/controller";
import {
  type CachedSecrets,
  isMadeWithAny,
  type MessageClaim,
  MessageRefusedError,
  type RetryAfter,
  refusalAnswer,
  unavailable,
  unverified,
} from "@drover/webhook";
import type { IncomingMessage } from "node:http";
import type { Admission, IncomingBody } from "./admission.ts";
import { BodyRefusedError } from "./read-incoming-body.ts";

/**
 * Refuses a request that no signed endpoint accepts, by its headers alone. To be called before the endpoint that the
 * request names is looked up, so that the answer does not reveal if it exists.
 *
 * @param most maximum size of a body in bytes.
 * @throws MessageRefusedError `unsupported` or `too large`
 */
export function refuseForm({ headers }: Pick<IncomingMessage, "headers">, most: number): void {
  if ((headers["content-encoding"] ?? "identity").toLowerCase() !== "identity") {
    throw new MessageRefusedError(
      "unsupported",
      "A compressed body is not accepted. Send it without Content-Encoding.",
    );
  }
  if (Number(headers["content-length"] ?? 0) > most) throw tooLarge(most);
}

export interface ReceiveOptions {
  readonly admission: Admission;
  /** Maximum size of the body in bytes. */
  readonly most: number;
  /** Bodies with the same group share a limit of memory. */
  readonly group: string;
}

/**
 * Passes the body of a request to `take`, which verifies it before it parses it, and frees its memory at the end.
 * @throws MessageRefusedError if the complete body cannot be read
 */
export async function receiveMessage<Taken>(
  incoming: IncomingMessage,
  { admission, most, group }: ReceiveOptions,
  take: (body: IncomingBody) => Promise<Taken>,
): Promise<Taken> {
  const body = admission.body(incoming, { most, group });
  try {
    return await take(body);
  } catch (error) {
    throw error instanceof BodyRefusedError ? refusalOf(error, most) : error;
  } finally {
    body.release();
  }
}

export interface MessageToVerify {
  readonly claim: MessageClaim;
  readonly secrets: CachedSecrets;
  readonly body: Pick<IncomingBody, "read" | "signal" | "verified">;
}

/**
 * The body of a message from a sender that has a secret; nothing of it is parsed before. If no cached secret fits, the
 * secrets are read again, so that a new one is accepted at once. That wait ends when the connection closes, so no body
 * outlives its connection.
 *
 * @throws MessageRefusedError `unverified`, or `unavailable` while the secrets cannot be read; BodyRefusedError
 */
export async function verifyMessage({ claim, secrets, body }: MessageToVerify): Promise<Uint8Array> {
  // Read before the body, so that no body is held in memory while a Secret is read.
  const cached = await readable(secrets.current());
  const bytes = claim.isOverBody ? await body.read() : undefined;
  const isGood = (all: readonly string[]): boolean => isMadeWithAny(claim, all, bytes ?? nothing);
  if (!isGood(cached)) {
    const newer = await readable(raceAbort(secrets.newerThan(cached), body.signal));
    if (newer === undefined || !isGood(newer)) throw unverified("no secret fits");
  }
  body.verified();
  return bytes ?? (await body.read());
}

/** The response to the sender of a refused message. It ends the connection if the body was not read to its end. */
export function refusalResponse(
  incoming: Pick<IncomingMessage, "complete">,
  refused: MessageRefusedError,
  retryAfter?: RetryAfter,
): Response {
  const { status, headers, body } = refusalAnswer(refused, retryAfter);
  return new Response(body, {
    status,
    headers: { ...headers, ...(!incoming.complete && { connection: "close" }) },
  });
}

const nothing = new Uint8Array();

/** While its secret cannot be read, a message can be neither accepted nor rejected. */
async function readable<Secrets>(reading: Promise<Secrets>): Promise<Secrets> {
  try {
    return await reading;
  } catch (error) {
    throw unavailable(`its secret cannot be read: ${messageOf(error)}`);
  }
}

/** The sender receives the message only for a body that is too large. In all other cases its connection is closed. */
function refusalOf({ why, message }: BodyRefusedError, most: number): MessageRefusedError {
  switch (why) {
    case "too large":
      return tooLarge(most);
    case "cut off":
    case "too slow":
      return new MessageRefusedError(
        "malformed",
        "The body was cut off, or came too slowly. Send it again.",
        message,
      );
    case "displaced":
      return unavailable("too many unverified bodies were in memory, and the oldest were dropped");
  }
}

const tooLarge = (most: number): MessageRefusedError =>
  new MessageRefusedError("too large", `The body may have at most ${most} bytes. Send a smaller one.`);
