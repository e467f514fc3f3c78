// Rules name fields whose names are no names in CEL in another way.
const reserved =
  /^(true|false|null|in|as|break|const|continue|else|for|function|if|import|let|loop|package|namespace|return|var|void|while)$/;
const marks: Readonly<Record<string, string>> = { __: "underscores", ".": "dot", "-": "dash", "/": "slash" };

/** The name of a field in rules; undefined if rules cannot name it (k8s.io/apiserver/pkg/cel, escaping.go). */
export function escapedName(name: string): string | undefined {
  if (!/^[a-zA-Z_./-][a-zA-Z0-9_./-]*$/.test(name)) return undefined;
  if (reserved.test(name)) return `__${name}__`;
  return name.replaceAll(/__|[-./]/g, (mark) => `__${marks[mark] ?? ""}__`);
}
