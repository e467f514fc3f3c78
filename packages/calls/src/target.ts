/** The URL of a function, and the address that was checked and is connected to. */
export interface Target {
  readonly url: URL;
  readonly address: string;
}

/** A function cannot be called at its address. The message has the remedy. */
export class TargetError extends Error {
  override readonly name = "TargetError";
}
