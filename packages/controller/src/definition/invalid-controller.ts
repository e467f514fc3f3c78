import { type Duration, type Milliseconds, parseDuration } from "../duration.ts";

/** A controller's definition that cannot work. The message contains the field and the problem. */
export class InvalidControllerError extends Error {
  override readonly name = "InvalidControllerError";
  constructor(controller: string, field: string, problem: string, cause?: unknown) {
    super(`Controller ${JSON.stringify(controller)}: ${field} ${problem}`, { cause });
  }
}

/**
 * Parses a duration above zero.
 * @throws InvalidControllerError for any other text.
 */
export function positiveDuration(controller: string, field: string, text: Duration): Milliseconds {
  let span: Milliseconds;
  try {
    span = parseDuration(text);
  } catch (cause) {
    throw new InvalidControllerError(controller, field, `is wrong: ${(cause as Error).message}`, cause);
  }
  if (span === 0)
    throw new InvalidControllerError(controller, field, "is zero; give a duration above it, such as 10m.");
  return span;
}

/**
 * Checks an integer from 1 to `most`.
 * @throws InvalidControllerError for any other number.
 */
export function positiveInteger(controller: string, field: string, value: number, most: number): number {
  if (Number.isInteger(value) && value >= 1 && value <= most) return value;
  throw new InvalidControllerError(controller, field, `is ${value}; give a whole number from 1 to ${most}.`);
}
