/** The code of an error of the operating system, as in `EADDRINUSE`; undefined for any other. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}
