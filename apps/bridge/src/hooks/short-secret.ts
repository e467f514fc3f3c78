const least = 16;

/** What is wrong with a secret that can be guessed. */
export const shortSecret = (secret: string): string | undefined =>
  Buffer.byteLength(secret) < least ? `has less than ${least} bytes` : undefined;
