import { MessageRefusedError } from "@drover/webhook";

/** The headers of a request, exactly as sent. */
export interface SentHeaders {
  /**
   * The value of a header; undefined if it is absent.
   * @throws MessageRefusedError if it was sent twice: the check and a later reader could use different values.
   */
  one(name: string): string | undefined;
}

/** @param raw names and values in turn, as in Node's `rawHeaders`. */
export function sentHeaders(raw: readonly string[]): SentHeaders {
  const values = new Map<string, string[]>();
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = raw[i]?.toLowerCase() ?? "";
    const sent = values.get(name);
    if (sent === undefined) values.set(name, [raw[i + 1] ?? ""]);
    else sent.push(raw[i + 1] ?? "");
  }
  return {
    one(name) {
      const [value, ...more] = values.get(name.toLowerCase()) ?? [];
      if (more.length > 0) {
        throw new MessageRefusedError(
          "malformed",
          `The header ${name.toLowerCase()} was sent twice. Send it once.`,
        );
      }
      return value;
    },
  };
}
