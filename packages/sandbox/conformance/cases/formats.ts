// The formats of texts, each with texts that have it and that nearly do.
import { formatted, formatsIn } from "../fixtures.ts";
import { post } from "../steps.ts";
import type { Case } from "../steps.ts";

const many = (text: string, times: number): string => text.repeat(times);
const uuid = "123e4567-e89b-12d3-a456-426614174000";
/** By format, the texts apart by line breaks; nothing between two of them is the empty text. */
const texts: Readonly<Record<string, string>> = {
  uri: `https://a.b\na\n/x\nmailto:a@b\nhttp://a b\n://x\nurn:x:y\npostgres://u:p@h:5432/d?x=y#z\nhttp://[::1]:80/\nhttp://[::1\nhttp://a:b/\n
http://a:1:2/\nredis://a:1,b:2/\nhttp://[1.2.3.4]/\nhttp://[fe80::1%25eth0]/\nhttp://a%zz/\nhttp://a/%zz\n/%zz\nhttp://a?%zz\nhttp://u{}@a/\n*\n1http://a\nhttp:a\nhttp://ä/\nhttp://a^b/\n//a b\nhttp://a%41/\nhttp://a%80/`,
  email: `a@b.co\na\na@b\nA <a@b.co>\n"x y"@b.co\na..b@c.co\n.a@b\na.@b\na@[1.2.3.4]\na@[::1]\na@[x]\n\n<a@b>\n"A B" <a@b>\nA B <a@b>\na@b (c)\na@b (c\na@b, c@d\ng:a@b;\ng:;\ng:a@b,c@d;\nä@ö.de\na@b c\nA <a@b> x\n ""@b\n""@b`,
  hostname: `a.b\nA.B\na.bc\na_b.c\n-a\na.\n1.2.3.4\n${many("x", 63)}\n${many("x", 64)}\né.com\n\na..b\nlocalhost\nxn--bcher-kva.ch\na.b-\na-.bc\na.${many("b", 64)}\n${many("a.", 127)}de\n☃.com\na--b`,
  ipv4: "1.2.3.4\n1.2.3\n01.2.3.4\n001.2.3.4\n::1\n256.1.1.1\n1.2.3.4/24\n\n::ffff:1.2.3.4\n1.2.3.4.5\n1.2.3.",
  ipv6: "::1\n1.2.3.4\nfe80::1%eth0\n::ffff:1.2.3.4\n2001:db8::\n2001:DB8::1\nx\n:::\n\n::00001\n1::2::3\n::ffff:01.2.3.4",
  cidr: "10.0.0.0/8\n10.0.0.1/8\n10.0.0.0\n10.0.0.0/33\n::/0\n2001:db8::/129\n010.0.0.0/8\n\n10.0.0.0/08\n::ffff:1.2.3.4/120\n1.2.3.4/-1\n/8",
  mac: "00:11:22:33:44:55\n00-11-22-33-44-55\n0011.2233.4455\n00:11:22\n001122334455\n00:00:00:00:fe:80:00:00\n\n00:11-22:33:44:55\n00:11:22:33:44:5g\n0011.2233.4455.6677\n00:11:22:33:44:55:66",
  uuid: `${uuid}\n${uuid.toUpperCase()}\n${uuid.replaceAll("-", "")}\n{${uuid}}\nx\n`,
  uuid3: `a3bb189e-8bf9-3888-9912-ace4e6543002\n${uuid}\n`,
  uuid4: `9f1d4b2a-3c4d-4e5f-8a6b-7c8d9e0f1a2b\n9f1d4b2a-3c4d-4e5f-0a6b-7c8d9e0f1a2b\n${uuid}`,
  uuid5: "886313e1-3b8a-5372-9b90-0c9aee199e5d\n886313e1-3b8a-4372-9b90-0c9aee199e5d",
  byte: "YQ==\nYQ\nYQ=\n%\n\nYW Jj\n_-8=\nYWJj\nYR==",
  password: "x\n",
  date: "2024-02-29\n2023-02-29\n2024-2-1\n2024-02-29T00:00:00Z\n\n10000-01-01\n0000-01-01\n1900-02-29\n2024-04-31\n2024-00-01",
  duration:
    "1h\n1h30m\n5\n5s\n-5s\n1d\n1 h\n1.5h\nP1D\n1w\n3 weeks\n\n100ms\n1us\n1µs\n1μs\n2 days 3 hours\n1h 30m\n+5s\n.5s\n0\n-0\n1.h\n1 Hour\n1 hrs\n1 secs\n9999999999h\n99999999999999999999s\n1s 99999999999999999999 x\nx1sx\n5 y",
  "date-time":
    "2024-01-01T00:00:00Z\n2024-01-01T00:00:00.123456789Z\n2024-01-01T00:00:00+02:00\n2024-01-01 00:00:00Z\n2024-01-01T00:00:00\n2024-01-01\n2024-01-01T24:00:00Z\n2024-01-01T23:59:60Z\n2024-01-01t00:00:00z\n2024-02-30T00:00:00Z\n\n2024-01-01T00:00Z\n2024-01-01T00:00:00+0200\n2024-01-01T00:00:00x1Z\n2024-01-01T00:00:00ZTx",
  datetime: "2024-01-01T00:00:00Z\nx",
  bsonobjectid: "507f1f77bcf86cd799439011\nx\n507f1f77bcf86cd79943901",
  isbn: "978-3-16-148410-0\n0-306-40615-2\nx\n978-3-16-148410-1",
  isbn10: "0-306-40615-2\n0306406152\n030640615X\n080442957X\nx",
  isbn13: "978-3-16-148410-0\n9783161484100\n9783161484101\nx",
  creditcard: "4111111111111111\n4111 1111 1111 1111\n4111111111111112\nx\n",
  ssn: "123-45-6789\n123 45 6789\n123456789\nx",
  hexcolor: "#fff\n#ffffff\nfff\n#ffff\nx",
  rgbcolor: "rgb(1,2,3)\nrgb(256,2,3)\nrgb( 1, 2, 3 )\nrgb(01,2,3)\nx",
  "k8s-short-name": `abc\na.b\nABC\n${many("x", 63)}\n${many("x", 64)}\n-a\n`,
  "k8s-long-name": `abc\na.b\nABC\na..b\n${many("x", 253)}\n${many("x", 254)}`,
  // No format of a text: none of these is looked at.
  int32: "x",
  unknown: "x",
  quantity: "x",
  "int-or-string": "x",
};
const fieldOf = (format: string): string => format.replaceAll("-", "_");

export const formats: readonly Case[] = [
  ...Object.entries(texts).map(([format, all]) => ({
    name: `texts as ${format}`,
    steps: all
      .split("\n")
      .map((text) => post(`${formatsIn}?dryRun=All`, formatted({ [fieldOf(format)]: text }))),
  })),
  {
    name: "what is no text, as each",
    steps: [1, 1.5, true, {}, ["x"], null].flatMap((value) =>
      ["date-time", "ipv4", "unknown"].map((format) =>
        post(`${formatsIn}?dryRun=All`, formatted({ [fieldOf(format)]: value })),
      ),
    ),
  },
  {
    name: "numbers with formats",
    steps: [1, 2147483648, 1.5, 1e30, 1e300, "x", true, [1], {}].flatMap((value) =>
      ["int32", "int64", "float", "double", "strange"].map((format) =>
        post(`${formatsIn}?dryRun=All`, formatted({ [`number_${format}`]: value })),
      ),
    ),
  },
];
