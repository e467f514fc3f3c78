/** Decimal versions compare by length, then as text; others (aggregated APIs) only say that they differ. */
export function isNewer(version: string, known: string | undefined): boolean {
  if (known === undefined) return true;
  if (!isDecimal(version) || !isDecimal(known)) return version !== known;
  return version.length === known.length ? version > known : version.length > known.length;
}

export const isDecimal = (version: string): boolean => /^[0-9]+$/.test(version);
