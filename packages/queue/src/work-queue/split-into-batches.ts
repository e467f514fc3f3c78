/**
 * Splits a list, in its order, into batches of at most `maxItems` elements and `size` in all. An element that is larger
 * than `size` is alone in its batch.
 */
export function splitIntoBatches<Element>(
  list: readonly Element[],
  { maxItems, size, sizeOf }: { maxItems: number; size: number; sizeOf: (element: Element) => number },
): readonly (readonly Element[])[] {
  const found: Element[][] = [];
  let room = 0;
  for (const element of list) {
    const needs = sizeOf(element);
    const last = found.at(-1);
    if (last && last.length < maxItems && needs <= room) {
      last.push(element);
      room -= needs;
    } else {
      found.push([element]);
      room = size - needs;
    }
  }
  return found;
}
