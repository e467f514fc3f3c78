import { type FieldPath, InvalidFieldPathError, parseFieldPath } from "@drover/kube";
import { InvalidRegistrationError } from "./invalid-registration.ts";

/**
 * A path as a registration has it.
 * @param at where it is declared.
 * @throws InvalidRegistrationError
 */
export function declaredPath(text: string, at: string): FieldPath {
  try {
    return parseFieldPath(text);
  } catch (error) {
    if (!(error instanceof InvalidFieldPathError)) throw error;
    throw new InvalidRegistrationError(`${at}: ${error.message}`);
  }
}
