/**
 * Control, format and private-use characters, line ends, and lone surrogates, by Unicode's categories: C0, C1, marks
 * that change the direction of writing, characters without width, tags. None of them may reach a terminal from
 * untrusted text.
 */
export const unprintable = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]+/gu;

/** A text on one line, without unprintable characters: messages may come from objects with untrusted text. */
export const oneLine = (text: string): string => text.replace(unprintable, " ");
