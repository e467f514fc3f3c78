import { InvalidDurationError, type Milliseconds, parseDuration } from "@drover/controller";
import { InvalidArgumentError, Option } from "commander";

/** How long a command may wait for something; five minutes by default. */
export const waitOption = (description: string): Option =>
  new Option("--wait <time>", description).argParser(span).default(300_000, "5m");

function span(text: string): Milliseconds {
  try {
    return parseDuration(text);
  } catch (error) {
    throw error instanceof InvalidDurationError ? new InvalidArgumentError(error.message) : error;
  }
}
