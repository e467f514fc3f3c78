/** A command cannot do what it was asked for; the message says why and what to do, and is all that is shown. */
export class CommandError extends Error {
  override readonly name: string = "CommandError";
}
