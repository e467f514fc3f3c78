// One address as Go's net/mail.ParseAddress reads it (RFC 5322), with or without a name before it.
import { isIP } from "node:net";

/** The rest of a text after what was read of it; undefined where it does not stand there. */
type Rest = string | undefined;

const blank = (text: string): string => text.replace(/^[ \t]+/, "");
const after = (text: string, pattern: RegExp): Rest => {
  const found = pattern.exec(text);
  return found ? text.slice(found[0].length) : undefined;
};
// Printable characters and all beyond ASCII, without the specials of RFC 5322.
const atom = /^(?:[!#$%&'*+\-./0-9=?A-Z^_`a-z{|}~]|[^\x00-\x7f])+/u;
const quoted = /^"((?:[!#-[\]-~ \t]|[^\x00-\x7f]|\\[!-~ \t]|\\[^\x00-\x7f])*)"/u;

/** Words with single dots between them. */
function dotted(text: string): Rest {
  const word = atom.exec(text)?.[0] ?? "";
  const isDotted = word !== "" && !word.startsWith(".") && !word.endsWith(".") && !word.includes("..");
  return isDotted ? text.slice(word.length) : undefined;
}

function literal(text: string): Rest {
  const [whole = "", address = ""] = /^\[([!-Z^-~]*)\]/u.exec(text) ?? [];
  return isIP(address) > 0 && !address.includes("%") ? text.slice(whole.length) : undefined;
}

function addressOnly(given: string): Rest {
  const text = blank(given);
  const local = text.startsWith('"')
    ? text.startsWith('""')
      ? undefined
      : after(text, quoted)
    : dotted(text);
  if (!local?.startsWith("@")) return undefined;
  const domain = blank(local.slice(1));
  return domain.startsWith("[") ? literal(domain) : dotted(domain);
}

/** The text without comments at its beginning; comments may hold others. */
function withoutComments(given: string): Rest {
  let text = blank(given);
  while (text.startsWith("(")) {
    let depth = 0;
    let at = 0;
    do {
      if (text[at] === "\\" && at + 1 < text.length) at += 1;
      else if (text[at] === "(") depth += 1;
      else if (text[at] === ")") depth -= 1;
      at += 1;
    } while (depth > 0 && at < text.length);
    if (depth > 0) return undefined;
    text = blank(text.slice(at));
  }
  return text;
}

/** The words of a name, with comments between them. */
function phrase(given: string): Rest {
  let text = blank(given);
  for (let words = 0; ; words += 1) {
    const between = words === 0 ? text : withoutComments(text);
    if (between === undefined) return undefined;
    const rest = after(between, between.startsWith('"') ? quoted : atom);
    if (rest === undefined) return words === 0 ? undefined : between;
    text = rest;
  }
}

function mailbox(given: string, inGroup = false): Rest {
  const alone = addressOnly(given);
  if (alone !== undefined) return withoutComments(alone);
  const text = blank(given);
  const named = text.startsWith("<") ? text : phrase(text);
  if (named === undefined) return undefined;
  const rest = blank(named);
  if (rest.startsWith(":") && !inGroup) return groupOfOne(rest.slice(1));
  const inside = rest.startsWith("<") ? addressOnly(rest.slice(1)) : undefined;
  return inside?.startsWith(">") ? inside.slice(1) : undefined;
}

function groupOfOne(text: string): Rest {
  const member = mailbox(text, true);
  const end = member === undefined ? undefined : withoutComments(member);
  return end?.startsWith(";") ? end.slice(1) : undefined;
}

/** Whether a text is exactly one address. */
export function emailAddress(text: string): boolean {
  const rest = mailbox(text);
  return rest !== undefined && withoutComments(rest) === "";
}
