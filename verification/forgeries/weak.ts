import type { Case, Sent } from "./sent.ts";

/**
 * Verifiers that are almost right. Each takes a forged message for the genuine one where a verifier with that fault would,
 * and leaves the rest to the shipped one: a count of forgeries that does not find these proves nothing.
 */
const faults = {
  "compares the first letters of a signature": (sent, { signedHeaders, sent: genuine }) => {
    const name = signedHeaders.at(-1) ?? "";
    const [given = "", right = ""] = [sent.headers[name], genuine.headers[name]];
    const isAlike = given.slice(0, 14) === right.slice(0, 14) && given.length === right.length;
    return isAlike ? { ...sent, headers: { ...sent.headers, [name]: right } } : sent;
  },
  "leaves the time out of what is signed": (sent, { sent: genuine }) => {
    const name = "webhook-timestamp";
    const right = genuine.headers[name];
    const isTime = /^\d{10}$/.test(sent.headers[name] ?? "");
    return isTime && right !== undefined ? { ...sent, headers: { ...sent.headers, [name]: right } } : sent;
  },
  "trims the body": (sent, { sent: { body } }) =>
    sent.body.toString("latin1").trim() === body.toString("latin1") ? { ...sent, body } : sent,
  "verifies what the body means, not its bytes": (sent, { sent: { body } }) => {
    try {
      const means = JSON.stringify(JSON.parse(sent.body.toString()));
      return means === JSON.stringify(JSON.parse(body.toString())) ? { ...sent, body } : sent;
    } catch {
      return sent;
    }
  },
  "does not look for whom or when a message is": (sent, { others, sent: genuine }) =>
    others().includes(sent) ? genuine : sent,
  "takes a header that came twice by its last value": (sent) => ({
    ...sent,
    headers: Object.fromEntries(
      Object.entries(sent.headers).map(([name, value]) => [name, value.split(", ").at(-1) ?? value]),
    ),
  }),
} as const satisfies Readonly<Record<string, (sent: Sent, one: Case) => Sent>>;

export type Fault = keyof typeof faults;
export const allFaults = Object.keys(faults) as readonly Fault[];

export const weakened = (one: Case, fault: Fault): Case => ({
  ...one,
  accepts: (sent) => one.accepts(faults[fault](sent, one)),
});
