/** The environment that programs started here get, under what they are given besides. */
export const environment = (): Readonly<Record<string, string | undefined>> => process.env;

/** The folders where programs are looked for. */
export const searchPath = (): readonly string[] => (process.env["PATH"] ?? "").split(":").filter(Boolean);
