// The library does not read the selection of optional parts, `self.?name` and `self[?key]`. Here they become calls of
// the method optional_part.

/** Strings, comments, names, and single characters. */
const token =
  /[rRbB]{0,2}(?:"""[^]*?"""|'''[^]*?''')|[rR][bB]?(?:"[^"]*"|'[^']*')|[bB]?(?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|\/\/.*|[A-Za-z_]\w*|\d[\w.]*|\s+|./gsu;
const isName = (text: string | undefined): boolean => /^[A-Za-z_]/.test(text ?? "");

/** The expression with calls in the place of optional selections. */
export function withoutOptionals(expression: string): string {
  if (!/[.[]\s*\?/.test(expression)) return expression;
  const tokens = (expression.match(token) ?? []).filter((one) => !/^(\s|\/\/)/.test(one));
  const closing: string[] = [];
  let [result, isOptional] = ["", false];
  for (let i = 0; i < tokens.length; i++) {
    const [one = "", next] = [tokens[i], tokens[i + 1]];
    const isAsked = next === "?" && (one === "." || one === "[");
    const isCall = one === "." && tokens[i + 2] === "(";
    const isPart = isAsked || (isOptional && (one === "[" || (one === "." && !isCall)));
    if (one === "." && isPart) {
      i += isAsked ? 2 : 1;
      result += `.optional_part(${JSON.stringify(tokens[i] ?? "")})`;
    } else if (one === "[") {
      if (isAsked) i++;
      result += isPart ? ".optional_part(" : one;
      closing.push(isPart ? ")" : "]");
    } else if (one === "]") result += closing.at(-1) ?? one;
    else result += `${isName(one) ? " " : ""}${one}`;
    // A part of an optional is an optional, too.
    isOptional = one === "]" ? closing.pop() === ")" : one === "." && isPart;
  }
  return result;
}
