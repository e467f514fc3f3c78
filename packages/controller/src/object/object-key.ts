/**
 * Identifies the object of a run: `namespace/name`, or `name` for cluster-scoped kinds. A key identifies *which* object
 * to look at, and contains nothing about *what happened*. The queue holds only keys, unless the controller declares
 * `copies`.
 */
export type ObjectKey = string & { readonly __brand: "ObjectKey" };

/** The two parts of a key; `namespace` is absent for cluster-scoped kinds. */
export interface ObjectName {
  readonly namespace?: string | undefined;
  readonly name: string;
}

/** Maximum length of an object's name in Kubernetes (RFC 1123 subdomain), and of a namespace (RFC 1123 label). */
const maxLength = { name: 253, namespace: 63 };

/**
 * The key of a named object.
 *
 * Kubernetes allows `:` in the names of some kinds (RBAC), so only parts that would make a key ambiguous or unbounded
 * are refused: an empty part, a `/`, a blank or control character, half a surrogate pair (Redis would return it as
 * another character), `.` and `..` (in the path of a request they mean another object), a part longer than Kubernetes
 * allows.
 *
 * @throws InvalidKeyError with the part and the problem.
 */
export function objectKey({ namespace, name }: ObjectName): ObjectKey {
  const parts = namespace === undefined ? [] : [checked("namespace", namespace)];
  return [...parts, checked("name", name)].join("/") as ObjectKey;
}

/**
 * Parses a key from text, such as a job's data.
 * @throws InvalidKeyError if the text is not `name` or `namespace/name`.
 */
export function parseObjectKey(text: string): ObjectKey {
  const [first, second, ...more] = text.split("/");
  if (first === undefined || more.length > 0)
    throw new InvalidKeyError(`${quoted(text)} has more than one "/".`);
  return second === undefined ? objectKey({ name: first }) : objectKey({ namespace: first, name: second });
}

/** The key of an object with a name that others have chosen; undefined if it cannot be one. */
export const tryObjectKey = (name: ObjectName): ObjectKey | undefined =>
  keyUnlessInvalid(() => objectKey(name));

/** Parses a key from text that other programs may have written; undefined if it is not a key. */
export const tryParseObjectKey = (text: string): ObjectKey | undefined =>
  keyUnlessInvalid(() => parseObjectKey(text));

function keyUnlessInvalid(key: () => ObjectKey): ObjectKey | undefined {
  try {
    return key();
  } catch (error) {
    if (error instanceof InvalidKeyError) return undefined;
    throw error;
  }
}

/** The parts of a key. Never fails: an `ObjectKey` was checked when it was created. */
export function splitObjectKey(key: ObjectKey): ObjectName {
  const slash = key.indexOf("/");
  return slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

/** Text that cannot be a key. Its sender must send `name` or `namespace/name`. */
export class InvalidKeyError extends Error {
  override readonly name = "InvalidKeyError";
  constructor(problem: string) {
    super(`Not an object key: ${problem} Give "namespace/name", or "name" for a cluster-scoped kind.`);
  }
}

function checked(part: "namespace" | "name", text: string): string {
  if (text === "") throw new InvalidKeyError(`the ${part} is empty.`);
  if (text.length > maxLength[part]) {
    throw new InvalidKeyError(
      `the ${part} has ${text.length} characters; Kubernetes allows ${maxLength[part]}.`,
    );
  }
  if (/[/\u0000-\u0020\u007f-\u009f]/.test(text) || !text.isWellFormed()) {
    throw new InvalidKeyError(`the ${part} ${quoted(text)} has a "/", a blank or a control character.`);
  }
  if (text === "." || text === "..") throw new InvalidKeyError(`the ${part} must not be ${quoted(text)}.`);
  return text;
}

const quoted = (text: string): string => JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
