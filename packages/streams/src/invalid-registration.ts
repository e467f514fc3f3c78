/** A registration that cannot be used. The message says where and what to change. */
export class InvalidRegistrationError extends Error {
  override readonly name = "InvalidRegistrationError";
}
