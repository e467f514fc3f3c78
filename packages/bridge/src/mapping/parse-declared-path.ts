import { type FieldPath, InvalidFieldPathError, parseFieldPath } from "@drover/controller";
import { InvalidRegistrationError } from "../registration/invalid-registration.ts";

/**
 * Parses a path in a registration.
 * @param at the field that declares it, for the message.
 * @throws InvalidRegistrationError
 */
export function parseDeclaredPath(text: string, at: string): FieldPath {
  try {
    return parseFieldPath(text);
  } catch (error) {
    if (!(error instanceof InvalidFieldPathError)) throw error;
    throw new InvalidRegistrationError(`${at}: ${error.message}`);
  }
}
