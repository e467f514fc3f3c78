/**
 * A whole number of the command line.
 * @throws where it is none, with what to write
 */
export function wholeNumber(name: string, text: string, least = 0): number {
  const value = Number(text);
  if (text.trim() === "" || !Number.isSafeInteger(value) || value < least)
    throw new Error(`--${name} is a whole number from ${least} on, not ${JSON.stringify(text)}.`);
  return value;
}
