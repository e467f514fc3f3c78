/** Fields of which some may be undefined, which JSON and exact optional properties do not know. */
type Present<Fields> = { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> };

/** The same fields without those that are undefined. */
export function present<Fields extends object>(fields: Fields): Present<Fields> {
  const defined = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(defined) as Present<Fields>;
}
