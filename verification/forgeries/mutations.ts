import { createHmac } from "node:crypto";
import type { PseudoRandom } from "@drover/random";
import type { Case, Sent } from "./sent.ts";

export interface Forgery {
  /** Where it was changed, and how. */
  readonly what: string;
  readonly sent: Sent;
}

type Bytes = (random: PseudoRandom, bytes: Buffer) => Buffer;

const spliced = (bytes: Buffer, at: number, removed: number, added: Buffer): Buffer =>
  Buffer.concat([bytes.subarray(0, at), added, bytes.subarray(at + removed)]);
const at = (random: PseudoRandom, bytes: Buffer): number => random.below(Math.max(1, bytes.length));
const anyByte = (random: PseudoRandom): Buffer => Buffer.of(random.below(256));

/** What can become of bytes on the way. */
const changes: Readonly<Record<string, Bytes>> = {
  "one bit flipped": (random, bytes) => {
    const i = at(random, bytes);
    return spliced(bytes, i, 1, Buffer.of((bytes[i] ?? 0) ^ (1 << random.below(8))));
  },
  "one byte replaced": (random, bytes) => spliced(bytes, at(random, bytes), 1, anyByte(random)),
  "one byte inserted": (random, bytes) => spliced(bytes, random.below(bytes.length + 1), 0, anyByte(random)),
  "one byte deleted": (random, bytes) => spliced(bytes, at(random, bytes), 1, Buffer.alloc(0)),
  "a blank inserted": (random, bytes) =>
    spliced(bytes, random.below(bytes.length + 1), 0, Buffer.from(random.oneOf([" ", "\n", "\t", "\r\n"]))),
  "two bytes swapped": (random, bytes) => {
    const [i, j] = [at(random, bytes), at(random, bytes)];
    const swapped = Buffer.from(bytes);
    [swapped[i], swapped[j]] = [bytes[j] ?? 0, bytes[i] ?? 0];
    return swapped;
  },
  truncated: (random, bytes) => bytes.subarray(0, at(random, bytes)),
  beheaded: (random, bytes) => bytes.subarray(1 + at(random, bytes)),
  doubled: (_random, bytes) => Buffer.concat([bytes, bytes]),
  emptied: () => Buffer.alloc(0),
  "lengthened behind": (random, bytes) =>
    Buffer.concat([bytes, Buffer.alloc(1 + random.below(70), random.below(256))]),
  "with a byte order mark": (_random, bytes) => Buffer.concat([Buffer.from("\ufeff"), bytes]),
};

const withHeader = ({ headers, body }: Sent, name: string, value: string | undefined): Sent => {
  const others = Object.entries(headers).filter(([other]) => other !== name);
  return { body, headers: Object.fromEntries(value === undefined ? others : [...others, [name, value]]) };
};

type Way = (random: PseudoRandom, one: Case) => Forgery;

const changedBody: Way = (random, { sent }) => {
  const [what, change] = random.oneOf(Object.entries(changes));
  return { what: `body ${what}`, sent: { ...sent, body: change(random, sent.body) } };
};

const changedHeader: Way = (random, { sent, signedHeaders }) => {
  const name = random.oneOf(signedHeaders);
  const [what, change] = random.oneOf(Object.entries(changes));
  const value = change(random, Buffer.from(sent.headers[name] ?? "", "latin1")).toString("latin1");
  return { what: `${name} ${what}`, sent: withHeader(sent, name, value) };
};

const wholeHeader: Way = (random, { sent, others, signedHeaders }) => {
  const name = random.oneOf(signedHeaders);
  const value = sent.headers[name] ?? "";
  const another = (): string | undefined => random.oneOf(others()).headers[name];
  const ways: readonly (readonly [string, () => string | undefined])[] = [
    ["left out", () => undefined],
    ["sent twice", () => `${value}, ${value}`],
    ["of another message", another],
    ["beside another's", () => `${another() ?? ""}, ${value}`],
    ["swapped with another header", () => sent.headers[random.oneOf(signedHeaders)]],
    ["in capitals", () => value.toUpperCase()],
    ["in small letters", () => value.toLowerCase()],
  ];
  const [what, changed] = random.oneOf(ways);
  return { what: `${name} ${what}`, sent: withHeader(sent, name, changed()) };
};

const otherTime: Way = (random, { sent }) => {
  const name = "webhook-timestamp";
  const seconds = Number(sent.headers[name]);
  const ways = [seconds + 1, seconds - 1, seconds + random.below(600) - 300, seconds * 1_000, -seconds].map(
    String,
  );
  const written = random.oneOf([
    ...ways,
    `0${seconds}`,
    `${seconds}.0`,
    `+${seconds}`,
    `0x${seconds.toString(16)}`,
  ]);
  return { what: "another time", sent: withHeader(sent, name, written) };
};

const replayed: Way = (random, { others, sent }) => {
  const other = random.oneOf(others());
  const ways: readonly Forgery[] = [
    { what: "another message, whole", sent: other },
    { what: "another's headers", sent: { headers: other.headers, body: sent.body } },
    { what: "another's body", sent: { headers: sent.headers, body: other.body } },
  ];
  return random.oneOf(ways);
};

/** Signed by no secret, or in no way that is a signature here. */
const otherSignature: Way = (random, { sent, signedHeaders }) => {
  const name = signedHeaders.at(-1) ?? "";
  const value = sent.headers[name] ?? "";
  const { "webhook-id": id = "", "webhook-timestamp": timestamp = "" } = sent.headers;
  const contents = [`${id}.${timestamp}.`, `${timestamp}.`, `${id}.`, ""].map((head) =>
    Buffer.concat([Buffer.from(head), sent.body]),
  );
  const key = random.oneOf(["", "secret", "whsec_", Buffer.alloc(24), Buffer.from(value)]);
  const mac = createHmac(random.oneOf(["sha256", "sha512", "sha1"]), key).update(random.oneOf(contents));
  const made = mac.digest(random.oneOf(["base64", "hex", "base64url"]));
  const head = random.oneOf(["v1,", "v0,", "v1a,", "v2,", "V1,", "sha256=", "sha1=", "Bearer ", ""]);
  const written = random.oneOf([`${head}${made}`, `${head}${value.replace(/^(v1,|sha256=|Bearer )/, "")}`]);
  return { what: "another signature", sent: withHeader(sent, name, written) };
};

/** A changed message that must be refused; its meaning always differs from the genuine one. */
export function forge(random: PseudoRandom, one: Case): Forgery {
  const genuine = one.canonical(one.sent);
  const ways: readonly Way[] = [
    changedHeader,
    wholeHeader,
    replayed,
    otherSignature,
    ...(one.isBodySigned ? [changedBody, changedBody] : []),
    ...(one.signedHeaders.includes("webhook-timestamp") ? [otherTime] : []),
  ];
  for (;;) {
    const forged = random.oneOf(ways)(random, one);
    if (one.canonical(forged.sent) !== genuine) return forged;
  }
}
