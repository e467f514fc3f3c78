/** A list in pieces of at most `most` elements and `size` in all, in its order; an element that is larger is alone in its piece. */
export function pieces<Element>(
  list: readonly Element[],
  { most, size, sizeOf }: { most: number; size: number; sizeOf: (element: Element) => number },
): readonly (readonly Element[])[] {
  const found: Element[][] = [];
  let room = 0;
  for (const element of list) {
    const needs = sizeOf(element);
    const last = found.at(-1);
    if (last && last.length < most && needs <= room) {
      last.push(element);
      room -= needs;
    } else {
      found.push([element]);
      room = size - needs;
    }
  }
  return found;
}
