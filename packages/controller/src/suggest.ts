/** A hint after an unknown word: "Did you mean ...?" with a similar known word, or the list of all known words. */
export function suggest(word: string, known: readonly string[]): string {
  const [nearest] = known
    .map((candidate) => ({ candidate, far: distance(word, candidate) }))
    .sort((a, b) => a.far - b.far);
  if (nearest !== undefined && nearest.far <= Math.max(2, word.length / 4))
    return `Did you mean ${nearest.candidate}?`;
  return `Known are: ${known.join(", ")}.`;
}

/** The Levenshtein distance. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (const [i, left] of Array.from(a).entries()) {
    const next = [i + 1];
    for (const [j, right] of Array.from(b).entries()) {
      next.push(
        Math.min((row[j] ?? 0) + (left === right ? 0 : 1), (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1),
      );
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
