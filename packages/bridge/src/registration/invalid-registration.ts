/** A registration that cannot be used. The message contains the field and the correction. */
export class InvalidRegistrationError extends Error {
  override readonly name = "InvalidRegistrationError";
}
