import { InvalidDurationError, type Milliseconds, parseDuration } from "@drover/controller";
import { InvalidArgumentError } from "commander";

/** Parses the time of an option, such as `5m`. */
export function span(text: string): Milliseconds {
  try {
    return parseDuration(text);
  } catch (error) {
    throw error instanceof InvalidDurationError ? new InvalidArgumentError(error.message) : error;
  }
}
