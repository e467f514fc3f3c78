/** The fields as optional ones that are never undefined, as in JSON and with exact optional properties. */
type Defined<Fields> = { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> };

/** The same fields without those that are undefined. */
export function omitUndefined<Fields extends object>(fields: Fields): Defined<Fields> {
  const defined = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(defined) as Defined<Fields>;
}
