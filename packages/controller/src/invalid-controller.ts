import { type Duration, type Milliseconds, milliseconds } from "./duration.ts";

/** A definition that cannot work. */
export class InvalidControllerError extends Error {
  override readonly name = "InvalidControllerError";
  constructor(controller: string, field: string, problem: string, cause?: unknown) {
    super(`Controller ${JSON.stringify(controller)}: ${field} ${problem}`, { cause });
  }
}

/** A duration above zero, parsed. */
export function positive(controller: string, field: string, text: Duration): Milliseconds {
  let span: Milliseconds;
  try {
    span = milliseconds(text);
  } catch (cause) {
    throw new InvalidControllerError(controller, field, `is wrong: ${(cause as Error).message}`, cause);
  }
  if (span === 0)
    throw new InvalidControllerError(controller, field, "is zero; give a duration above it, such as 10m.");
  return span;
}

/** A whole number from 1 to `most`. */
export function whole(controller: string, field: string, value: number, most: number): number {
  if (Number.isInteger(value) && value >= 1 && value <= most) return value;
  throw new InvalidControllerError(controller, field, `is ${value}; give a whole number from 1 to ${most}.`);
}
