import { expect, test } from "vitest";
import { formatAsked } from "./formats.ts";
import { frameCutter } from "./frames.ts";

/** Every byte in a chunk of its own. */
const drip = (bytes: Buffer): Buffer[] => Array.from(bytes, (byte) => Buffer.from([byte]));
const counted = (text: string): Buffer => {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(text.length);
  return Buffer.concat([length, Buffer.from(text)]);
};

test("a JSON watch is cut at its newlines, wherever its chunks end", () => {
  const { cut } = frameCutter("metadata");
  const frames = drip(Buffer.from('{"a":1}\n{"b":2}\n{"c"')).flatMap((chunk) => cut(chunk));
  expect(frames.map(String)).toEqual(['{"a":1}\n', '{"b":2}\n']);
});

test("a protobuf watch is cut by its length prefixes, even if frames contain newlines", () => {
  const { cut } = frameCutter("metadata-protobuf");
  const bytes = Buffer.concat([counted("one\n"), counted(""), counted("three")]);
  const expected = [counted("one\n"), counted(""), counted("three")];
  expect(cut(bytes)).toEqual(expected);
  expect(drip(bytes).flatMap((chunk) => cut(chunk))).toEqual(expected);
});

test("a client is answered in the format that it would like best", () => {
  const metadata = "as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
  expect(formatAsked(`application/json;${metadata}, application/json;q=0.5`)).toBe("metadata");
  expect(formatAsked(`application/vnd.kubernetes.protobuf;${metadata},application/json;${metadata}`)).toBe(
    "metadata-protobuf",
  );
  expect(formatAsked("application/json, */*")).toBe("whole");
  expect(formatAsked(undefined)).toBe("whole");
});
