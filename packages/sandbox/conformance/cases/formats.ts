// The formats of texts, each with texts that have it and texts that almost have it.
import { formatted, formatsIn } from "../fixtures.ts";
import { caseOf, post } from "../steps.ts";
import type { Case } from "../steps.ts";

const many = (text: string, times: number): string => text.repeat(times);
const uuid = "123e4567-e89b-12d3-a456-426614174000";
/** Texts by format, separated by line breaks. */
const texts: Readonly<Record<string, string>> = {
  uri: `https://a.b\na\n/x\nmailto:a@b\nhttp://a b\n://x\nurn:x:y\npostgres://u:p@h:5432/d?x=y#z\nhttp://[::1]:80/\nhttp://[::1\nhttp://a:b/\n
http://a:1:2/\nredis://a:1,b:2/\nhttp://[1.2.3.4]/\nhttp://[fe80::1%25eth0]/\nhttp://a%zz/\nhttp://a/%zz\n/%zz\nhttp://a?%zz\nhttp://u{}@a/\n*\n1http://a\nhttp:a\nhttp://ä/\nhttp://a^b/\n//a b\nhttp://a%41/\nhttp://a%80/`,
  hostname: `a.b\nA.B\na.bc\na_b.c\n-a\na.\n1.2.3.4\n${many("x", 63)}\n${many("x", 64)}\né.com\n\na..b\nlocalhost\nxn--bcher-kva.ch\na.b-\na-.bc\na.${many("b", 64)}\n${many("a.", 127)}de\n☃.com\na--b`,
  ipv4: "1.2.3.4\n1.2.3\n01.2.3.4\n001.2.3.4\n::1\n256.1.1.1\n1.2.3.4/24\n\n::ffff:1.2.3.4\n1.2.3.4.5\n1.2.3.",
  ipv6: "::1\n1.2.3.4\nfe80::1%eth0\n::ffff:1.2.3.4\n2001:db8::\n2001:DB8::1\nx\n:::\n\n::00001\n1::2::3\n::ffff:01.2.3.4",
  cidr: "10.0.0.0/8\n10.0.0.1/8\n10.0.0.0\n10.0.0.0/33\n::/0\n2001:db8::/129\n010.0.0.0/8\n\n10.0.0.0/08\n::ffff:1.2.3.4/120\n1.2.3.4/-1\n/8",
  uuid: `${uuid}\n${uuid.toUpperCase()}\n${uuid.replaceAll("-", "")}\n{${uuid}}\nx\n`,
  byte: "YQ==\nYQ\nYQ=\n%\n\nYW Jj\n_-8=\nYWJj\nYR==",
  date: "2024-02-29\n2023-02-29\n2024-2-1\n2024-02-29T00:00:00Z\n\n10000-01-01\n0000-01-01\n1900-02-29\n2024-04-31\n2024-00-01",
  "date-time":
    "2024-01-01T00:00:00Z\n2024-01-01T00:00:00.123456789Z\n2024-01-01T00:00:00+02:00\n2024-01-01 00:00:00Z\n2024-01-01T00:00:00\n2024-01-01\n2024-01-01T24:00:00Z\n2024-01-01T23:59:60Z\n2024-01-01t00:00:00z\n2024-02-30T00:00:00Z\n\n2024-01-01T00:00Z\n2024-01-01T00:00:00+0200\n2024-01-01T00:00:00x1Z\n2024-01-01T00:00:00ZTx",
  datetime: "2024-01-01T00:00:00Z\nx",
  // Not formats of texts: servers do not check them.
  int32: "x",
  unknown: "x",
  quantity: "x",
  "int-or-string": "x",
};
const fieldOf = (format: string): string => format.replaceAll("-", "_");

export const formats: readonly Case[] = [
  ...Object.entries(texts).map(([format, all]) =>
    caseOf(
      `texts as ${format}`,
      ...all
        .split("\n")
        .map((text) => post(`${formatsIn}?dryRun=All`, formatted({ [fieldOf(format)]: text }))),
    ),
  ),
  caseOf(
    "what is no text, as each",
    ...[1, 1.5, true, {}, ["x"], null].flatMap((value) =>
      ["date-time", "ipv4", "unknown"].map((format) =>
        post(`${formatsIn}?dryRun=All`, formatted({ [fieldOf(format)]: value })),
      ),
    ),
  ),
  caseOf(
    "numbers with formats",
    ...[1, 2147483648, 1.5, 1e30, 1e300, "x", true, [1], {}].flatMap((value) =>
      ["int32", "int64", "float", "double", "strange"].map((format) =>
        post(`${formatsIn}?dryRun=All`, formatted({ [`number_${format}`]: value })),
      ),
    ),
  ),
];
