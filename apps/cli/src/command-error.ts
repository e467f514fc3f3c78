/** A command cannot do what was requested. The CLI prints only the message, which states the reason and the remedy. */
export class CommandError extends Error {
  override readonly name: string = "CommandError";
}
