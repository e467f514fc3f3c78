/**
 * Decimal versions compare by length, then as text. For others (aggregated APIs) any different version counts as newer.
 */
export function isNewer(version: string, known: string | undefined): boolean {
  if (known === undefined) return true;
  if (!isDecimal(version) || !isDecimal(known)) return version !== known;
  return version.length === known.length ? version > known : version.length > known.length;
}

export const isDecimal = (version: string): boolean => /^[0-9]+$/.test(version);
