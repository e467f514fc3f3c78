/** Text of about so many bytes that costs a bad reader more than it should. */
export interface Payload {
  readonly name: string;
  /** JSON, or a part of a JSON text. */
  readonly json: (bytes: number) => string;
}

const filled = (piece: string, bytes: number): string =>
  piece.repeat(Math.max(1, Math.floor(bytes / Buffer.byteLength(piece))));

/** Pieces that patterns backtrack over, that look like the start of something, or that escape. */
const pieces: Readonly<Record<string, string>> = {
  digits: "1",
  durations: "1s",
  "letters and dashes": "a-",
  dots: ".",
  blanks: " ",
  "signatures without end": "v1,AAAA ",
  "percent signs": "%",
  "half a surrogate pair": "\\ud800",
  "control characters": "\\u0000",
  backslashes: "\\\\",
  umlauts: "ü",
  punycode: "xn--a",
};

const texts: readonly Payload[] = Object.entries(pieces).map(([name, piece]) => ({
  name,
  json: (bytes) => `"${filled(piece, bytes)}"`,
}));

/** A text that fits until its last letter. */
const almost: readonly Payload[] = ["1s", "a-", "AAAA"].map((piece) => ({
  name: `${piece} until the last letter`,
  json: (bytes) => `"${filled(piece, bytes)}!"`,
}));

const list = (item: string) => (bytes: number) => `[${filled(`${item},`, bytes).slice(0, -1)}]`;
const fields = (name: (i: number) => string) => (bytes: number) => {
  const count = Math.max(1, Math.floor(bytes / 24));
  return `{${Array.from({ length: count }, (_, i) => `${JSON.stringify(name(i))}:0`).join()}}`;
};

const shapes: readonly Payload[] = [
  { name: "a list of numbers", json: list("0") },
  { name: "a list of objects", json: list("{}") },
  { name: "many fields", json: fields((i) => `field-${i.toString().padStart(10, "0")}`) },
  { name: "the same field again and again", json: fields(() => "the-same-long-field") },
  // Their hash is their value in many engines, and tables grow by powers of two.
  { name: "fields that are multiples of 2^20", json: fields((i) => String(i * 2 ** 20)) },
  { name: "deep, as far as it goes", json: (bytes) => list("[".repeat(90) + "]".repeat(90))(bytes) },
  { name: "deeper than is read", json: (bytes) => "[".repeat(bytes) },
];

export const payloads: readonly Payload[] = [...texts, ...almost, ...shapes];
/** Those that a schema deep in a message is held to: the parser before it has met the others. */
export const fewPayloads: readonly Payload[] = payloads.filter(({ name }) =>
  ["digits", "letters and dashes", "a- until the last letter", "a list of objects", "many fields"].includes(
    name,
  ),
);
