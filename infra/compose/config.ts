/** The environment that programs started here get, under what they are given besides. */
export const environment = (): Readonly<Record<string, string | undefined>> => process.env;
