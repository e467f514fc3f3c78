const least = 16;

/** Describes why a secret is too easy to guess; undefined if it is not. */
export const shortSecretProblem = (secret: string): string | undefined =>
  Buffer.byteLength(secret) < least ? `has less than ${least} bytes` : undefined;
