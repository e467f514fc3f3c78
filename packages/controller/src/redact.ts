/** Written in place of a secret. */
export const redacted = "***";

/**
 * A text without the secrets that can be recognised by their form: user information in URLs, credentials of HTTP
 * headers, values with the name of a password, token or key, private keys, JSON Web Tokens, tokens with a well-known
 * prefix, and the excerpts of their input that JSON's parser and Redis put into their errors. A secret without such a
 * form stays: do not put content that must not be shown into a message.
 *
 * It takes time linear in the length of the text. Scrubbing twice changes nothing more.
 */
export function redact(text: string): string {
  const blocks = text
    .replace(
      /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[^]*?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|$)/g,
      redacted,
    )
    .replace(/(?<=Unexpected token )[^]{1,200}?(?= is not valid JSON)/g, redacted)
    .replace(/"[^"]{0,200}"(?= is not valid JSON)/g, redacted)
    .replace(/(?<=, with args beginning with: )[^\n]*/g, redacted);
  return withoutNamed(blocks.replace(/\S+/g, withoutUser))
    .replace(
      /\b(bearer|basic|digest|negotiate)(\s{1,3})([^\s"'`,;]+)/gi,
      (whole, scheme, blank, word: string) =>
        isWord(word) ? whole : `${String(scheme)}${String(blank)}${redacted}`,
    )
    .replace(/(?<![\w-])eyJ[\w-]{8,}\.[\w-]{4,}(?:\.[\w-]*)?/g, redacted)
    .replace(
      /(?<!\w)(?:gh[oprsu]_|github_pat_|glpat-|xox[a-z]-|sk_(?:live|test)_|whsec_)[\w+/=-]{8,}/g,
      redacted,
    );
}

/** True if the value of a field or variable with this name is a secret. */
export const isSecretName = (name: string): boolean => secretName.test(name);

/** True for a word of a sentence, such as `authentication` after `Bearer`: it is not a credential. */
const isWord = (text: string): boolean => /^[A-Z]?[a-z]+[.:!?)]?$/.test(text) || text.startsWith(redacted);

/**
 * A token of a text with the user information of its URLs cut. A password may contain any character, even a slash that
 * should have been written `%2F`: if a colon or an @ precedes the first slash, everything up to the last @ is cut.
 */
function withoutUser(token: string): string {
  const end = token.lastIndexOf("@");
  for (const { 0: slashes, index } of token.matchAll(/:(?:\\?\/)+/g)) {
    const start = index + slashes.length;
    if (start > end) break;
    const [authority = ""] = /^[^/?#\\]*/.exec(token.slice(start, end + 1)) ?? [];
    if (/[:@]/.test(authority)) return token.slice(0, start) + redacted + token.slice(end);
  }
  return token;
}

const headers = "authorization|cookie|x-api-key|(?:auth|private|vault|security)-token";
const names =
  "passw(?:or)?d|passphrase|pwd|secret|token|api[-_]?key|access[-_]?key|private[-_]?key|signature|credentials?";
const secretName = new RegExp(`(?:${headers}|${names})$`, "i");
/** The name of a secret, the quote that ends it, the sign before its value, and the quote that begins the value. */
const named = new RegExp(
  `(?:(?<header>${headers})|(?<name>${names}))(?<closing>\\\\{0,3}["'])?\\s{0,3}(?<sign>[:=,])\\s{0,3}(?<opening>\\\\{0,3}["'\`])?`,
  "gi",
);

/** A text without the values that follow the name of a secret. */
function withoutNamed(text: string): string {
  const parts: string[] = [];
  let done = 0;
  for (const { index, 0: all, groups = {} } of text.matchAll(named)) {
    const start = index + all.length;
    if (index < done) continue;
    const end = valueEnd(text, start, groups);
    if (end === start) continue;
    parts.push(text.slice(done, start), redacted);
    done = end;
  }
  return parts.join("") + text.slice(done);
}

/** The end of the value that begins at `start`; `start` itself if it is not the value of a secret. */
function valueEnd(text: string, start: number, { header, closing, sign, opening }: Groups): number {
  if (sign === "," && (closing === undefined || opening === undefined)) return start;
  if (opening !== undefined) return quotedEnd(text, start, opening);
  const unquoted = header === undefined ? /[^\s"'`&;]*/y : /[^\r\n"'`\\]*/y;
  unquoted.lastIndex = start;
  const [value = ""] = unquoted.exec(text) ?? [];
  // "spec.password: expected a string" is a message about the field.
  const isProse = header === undefined && sign === ":" && closing === undefined && isWord(value);
  return isProse ? start : start + value.length;
}

type Groups = Readonly<Record<string, string | undefined>>;

/** The index of the next quote like the opening one; a quote with one more backslash belongs to the value. */
function quotedEnd(text: string, start: number, opening: string): number {
  for (let at = text.indexOf(opening, start); at >= 0; at = text.indexOf(opening, at + opening.length)) {
    let before = at;
    while (before > start && text[before - 1] === "\\") before--;
    if ((at - before) % 2 === 0) return at;
  }
  return text.length;
}
