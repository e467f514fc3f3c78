/**
 * A text on one line. Messages come out of objects that anybody may have written: none writes to the terminal but
 * letters.
 */
export const oneLine = (text: string): string =>
  text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/g, " ");
