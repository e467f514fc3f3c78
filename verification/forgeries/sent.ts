/** A message as it goes over the network: what a verifier sees of it. */
export interface Sent {
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** One genuine message, and the shipped verifier that it is meant for. */
export interface Case {
  readonly sent: Sent;
  /** Genuine messages elsewhere: for other audiences, runs, hooks, or of another time. None may be accepted here. */
  readonly others: () => readonly Sent[];
  /** The headers that are signed, or are the signature. */
  readonly signedHeaders: readonly string[];
  /** Whether the body is under the signature. */
  readonly isBodySigned: boolean;
  /** Messages with the same text here are one message, written in another way that a standard allows. */
  canonical(sent: Sent): string;
  /** Whether the shipped verifier acts upon it. */
  accepts(sent: Sent): Promise<boolean>;
}

/** Makes a value when it is first asked for, and keeps it. */
export function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => (made ??= { value: make() }).value;
}

/** A listener, or a client that reads answers, and genuine messages for it. */
export interface Subject {
  readonly name: string;
  readonly make: (i: number) => Case;
}

export interface OpenSubject extends Subject {
  close(): Promise<void>;
}
