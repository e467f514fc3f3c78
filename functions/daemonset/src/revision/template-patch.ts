import { canonicalJson } from "@drover/json";

/**
 * The patch that sets a DaemonSet's template back to this one: the data of its revision.
 *
 * kube-controller-manager compares the bytes of this JSON. So it is written as Go writes it: fields in order, and the
 * characters `<`, `>`, `&` as escapes. JSON.stringify keeps this order, except that it writes names which are integers
 * first; a template where that matters gets another revision if kube-controller-manager takes over.
 */
export const templatePatch = (template: object): object => asGo(patchOf(template)) as object;

/** True if the data of a revision are the patch to this template. */
export const isPatchTo = (data: unknown, template: object): boolean =>
  canonicalJson(data) === canonicalJson(patchOf(template));

const patchOf = (template: object): object => ({ spec: { template: { ...template, $patch: "replace" } } });

function asGo(value: unknown): unknown {
  if (typeof value === "string") return asGoString(value);
  if (Array.isArray(value)) return value.map(asGo);
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(fields.map(([name, part]) => [name, asGo(part)]));
}

const escaped = /[<>&\u2028\u2029]/g;

function asGoString(text: string): unknown {
  if (text.search(escaped) < 0) return text;
  const escape = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.rawJSON(JSON.stringify(text).replace(escaped, escape));
}
