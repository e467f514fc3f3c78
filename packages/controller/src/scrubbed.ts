/** Written in place of a secret. */
export const cut = "***";

/**
 * A text without what is recognised as a secret by its form: user information in URLs, credentials of HTTP headers, values
 * that are named as a password, token or key, private keys, JSON Web Tokens, tokens with a well-known prefix, and the excerpts
 * of their input that JSON's parser and Redis put into their errors. A secret without such a form stays: what must not be
 * shown must not be put into a message.
 *
 * The time that it takes grows linearly with the text. Scrubbing twice changes nothing more.
 */
export function scrubbed(text: string): string {
  const blocks = text
    .replace(/-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[^]*?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|$)/g, cut)
    .replace(/(?<=Unexpected token )[^]{1,200}?(?= is not valid JSON)/g, cut)
    .replace(/"[^"]{0,200}"(?= is not valid JSON)/g, cut)
    .replace(/(?<=, with args beginning with: )[^\n]*/g, cut);
  return withoutNamed(blocks.replace(/\S+/g, withoutUser))
    .replace(
      /\b(bearer|basic|digest|negotiate)(\s{1,3})([^\s"'`,;]+)/gi,
      (whole, scheme, blank, word: string) =>
        isWord(word) ? whole : `${String(scheme)}${String(blank)}${cut}`,
    )
    .replace(/(?<![\w-])eyJ[\w-]{8,}\.[\w-]{4,}(?:\.[\w-]*)?/g, cut)
    .replace(/(?<!\w)(?:gh[oprsu]_|github_pat_|glpat-|xox[a-z]-|sk_(?:live|test)_|whsec_)[\w+/=-]{8,}/g, cut);
}

/** Whether a field or variable of this name has a secret for its value. */
export const namesSecret = (name: string): boolean => secretName.test(name);

/** A word of a sentence, such as `authentication` behind `Bearer`: no credentials. */
const isWord = (text: string): boolean => /^[A-Z]?[a-z]+[.:!?)]?$/.test(text) || text.startsWith(cut);

/**
 * A token of a text with the user information of its URLs cut. A password may have any character, also a slash that should
 * have been written `%2F`: where a colon or an @ stands before the first slash, all up to the last @ is taken for it.
 */
function withoutUser(token: string): string {
  const end = token.lastIndexOf("@");
  for (const { 0: slashes, index } of token.matchAll(/:(?:\\?\/)+/g)) {
    const start = index + slashes.length;
    if (start > end) break;
    const [authority = ""] = /^[^/?#\\]*/.exec(token.slice(start, end + 1)) ?? [];
    if (/[:@]/.test(authority)) return token.slice(0, start) + cut + token.slice(end);
  }
  return token;
}

const headers = "authorization|cookie|x-api-key|(?:auth|private|vault|security)-token";
const names =
  "passw(?:or)?d|passphrase|pwd|secret|token|api[-_]?key|access[-_]?key|private[-_]?key|signature|credentials?";
const secretName = new RegExp(`(?:${headers}|${names})$`, "i");
/** A name, the quote that ends it, what stands between it and its value, and the quote that begins that. */
const named = new RegExp(
  `(?:(?<header>${headers})|(?<name>${names}))(?<closing>\\\\{0,3}["'])?\\s{0,3}(?<sign>[:=,])\\s{0,3}(?<opening>\\\\{0,3}["'\`])?`,
  "gi",
);

/** A text with the values cut that stand behind the name of a secret. */
function withoutNamed(text: string): string {
  const parts: string[] = [];
  let done = 0;
  for (const { index, 0: all, groups = {} } of text.matchAll(named)) {
    const start = index + all.length;
    if (index < done) continue;
    const end = valueEnd(text, start, groups);
    if (end === start) continue;
    parts.push(text.slice(done, start), cut);
    done = end;
  }
  return parts.join("") + text.slice(done);
}

/** Where the value ends that begins at `start`; `start` itself for what is none. */
function valueEnd(text: string, start: number, { header, closing, sign, opening }: Groups): number {
  if (sign === "," && (closing === undefined || opening === undefined)) return start;
  if (opening !== undefined) return quotedEnd(text, start, opening);
  const unquoted = header === undefined ? /[^\s"'`&;]*/y : /[^\r\n"'`\\]*/y;
  unquoted.lastIndex = start;
  const [value = ""] = unquoted.exec(text) ?? [];
  // "spec.password: expected a string" is about the field.
  const isProse = header === undefined && sign === ":" && closing === undefined && isWord(value);
  return isProse ? start : start + value.length;
}

type Groups = Readonly<Record<string, string | undefined>>;

/** The place of the next quote like the one that opened; one with a backslash more belongs to the value. */
function quotedEnd(text: string, start: number, opening: string): number {
  for (let at = text.indexOf(opening, start); at >= 0; at = text.indexOf(opening, at + opening.length)) {
    let before = at;
    while (before > start && text[before - 1] === "\\") before--;
    if ((at - before) % 2 === 0) return at;
  }
  return text.length;
}
