import { RetryAfterError, RetryError, TerminalError, ThrottledError } from "./errors.ts";
import { redact } from "./redact.ts";

/** The only fields of an error that are logged. Libraries put requests into others, with headers and arguments. */
export interface ErrorFields {
  readonly name: string;
  readonly message: string;
  readonly stack?: string;
  /** The system's or a library's code for it, such as `ECONNREFUSED`. */
  readonly code?: string | number;
  /** The status of an HTTP response, such as 404. */
  readonly status?: number;
  /** The reason of an error that a controller throws, such as a TerminalError. */
  readonly reason?: string;
  readonly cause?: ErrorFields;
  /** The errors of an AggregateError. */
  readonly errors?: readonly ErrorFields[];
}

const maxTextLength = 8_192;
/** Maximum number of errors in the fields of one, causes of causes included: AggregateErrors form a tree. */
const maxErrors = 12;

/**
 * The fields of any thrown value that may be shown: allowed fields are copied, with secrets removed by `redact`, and
 * all others are left out. Never throws, whatever the error's getters do; cyclic, deep or long content is cut off.
 */
export function errorFields(error: unknown): ErrorFields {
  return fieldsOf(error, new Set());
}

/** The message of any thrown value, with secrets removed by `redact`. Never throws. */
export function messageOf(error: unknown): string {
  const message = read(error, "message");
  if (typeof message === "string") return redact(message);
  try {
    return redact(String(error));
  } catch {
    return "An error that cannot be read.";
  }
}

/** Name, message and stack of an error and of its causes, for a terminal. */
export function errorText(error: unknown): string {
  const lines = (fields: ErrorFields): readonly string[] => [
    fields.stack ?? `${fields.name}: ${fields.message}`,
    ...[...(fields.cause ? [fields.cause] : []), ...(fields.errors ?? [])].flatMap((one) => [
      "caused by:",
      ...lines(one),
    ]),
  ];
  return lines(errorFields(error)).join("\n");
}

/** @param seen errors that are included already: this one is added. */
function fieldsOf(error: unknown, seen: Set<unknown>): ErrorFields {
  seen.add(error);
  const [name, stack, code, status] = ["name", "stack", "code", "status"].map((field) => read(error, field));
  const inside = (one: unknown): readonly ErrorFields[] =>
    one == null || seen.has(one) || seen.size >= maxErrors ? [] : [fieldsOf(one, seen)];
  const [cause] = inside(read(error, "cause"));
  const errors = read(error, "errors");
  return {
    name: typeof name === "string" ? bounded(name) : "Error",
    message: bounded(messageOf(error)),
    ...(typeof stack === "string" && { stack: bounded(stack) }),
    ...((typeof code === "number" || isCode(code)) && { code }),
    ...(typeof status === "number" && { status }),
    ...(isOwn(error) && { reason: bounded(error.reason) }),
    ...(cause && { cause }),
    ...(Array.isArray(errors) && { errors: errors.slice(0, maxErrors).flatMap(inside) }),
  };
}

/** A field's value; undefined if reading it throws, as getters and proxies may. */
function read(error: unknown, field: string): unknown {
  try {
    return (error as Readonly<Record<string, unknown>> | null | undefined)?.[field];
  } catch {
    return undefined;
  }
}

/** True for a single word: error codes are words. */
const isCode = (code: unknown): code is string =>
  typeof code === "string" && /^[A-Za-z][\w-]{0,63}$/.test(code);

function isOwn(error: unknown): error is { readonly reason: string } {
  try {
    return [TerminalError, RetryError, RetryAfterError, ThrottledError].some((one) => error instanceof one);
  } catch {
    return false;
  }
}

/** Scrubs the text before it cuts it off: half of a URL's user information has no form that could be recognised. */
function bounded(text: string): string {
  const clean = redact(text);
  return clean.length > maxTextLength ? `${clean.slice(0, maxTextLength)}…` : clean;
}
