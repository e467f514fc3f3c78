/**
 * Control and format characters, ends of lines, and lone surrogates, by Unicode's own categories: C0, C1, marks that turn
 * the direction of writing, what has no width, tags. None of them may reach a terminal out of what others have written.
 */
export const unprintable = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]+/gu;

/** A text on one line, of letters alone: messages come out of objects that anybody may have written. */
export const oneLine = (text: string): string => text.replace(unprintable, " ");
