import { describe, expect, it } from "vitest";
import { isSecretName, redact } from "./redact.ts";

const pem = `-----BEGIN PRIVATE KEY-----\nMIIcanary\n-----END PRIVATE KEY-----`;
const jsonError = (text: string): string => {
  try {
    JSON.parse(text);
  } catch (error) {
    return String(error);
  }
  return "";
};

describe("redacts", () => {
  it.each([
    ["a password in a URL", "GET https://me:canary@host/path failed", "GET https://***@host/path failed"],
    ["a token in a URL", "https://canary@host:1/x", "https://***@host:1/x"],
    ["a password with @, : and /", "redis://me:can@a:r/y@host:6379", "redis://***@host:6379"],
    ["the passwords of several URLs", "redis://a:canary@h:1,redis://b:canary@i:2", "redis://***@i:2"],
    ["a password behind a URL without one", "http://h/x,http://b:canary@i:2", "http://h/x,http://***@i:2"],
    [
      "a password in JSON with escaped slashes",
      String.raw`{"u":"http:\/\/a:canary@h"}`,
      String.raw`{"u":"http:\/\/***@h"}`,
    ],
    ["a URL with one slash", "redis:/admin:canary@host", "redis:/***@host"],
    ["a header", "Authorization: Bearer canary", "Authorization: ***"],
    ["a header of a proxy", "proxy-authorization: Basic Y2FuYXJ5", "proxy-authorization: ***"],
    [
      "a header in JSON",
      '{"headers":{"Authorization":"Bearer canary","a":"b"}}',
      '{"headers":{"Authorization":"***","a":"b"}}',
    ],
    [
      "a header in JSON in JSON",
      String.raw`"{\"authorization\":\"Basic canary\",\"a\":1}"`,
      String.raw`"{\"authorization\":\"***\",\"a\":1}"`,
    ],
    ["a header in a list", '["Authorization","Bearer canary","Host"]', '["Authorization","***","Host"]'],
    [
      "a header as Node prints it",
      "{ authorization: 'Bearer canary', b: 1 }",
      "{ authorization: '***', b: 1 }",
    ],
    ["cookies", "Set-Cookie: session=canary; Path=/", "Set-Cookie: ***"],
    ["the token after Bearer", "refused Bearer canary-1 here", "refused Bearer *** here"],
    ["a password by its name", "DB_PASSWORD=canary&x=1", "DB_PASSWORD=***&x=1"],
    ["a password in JSON", '{"password":"can\\"ary","x":1}', '{"password":"***","x":1}'],
    ["a password without an end", '{"password":"canary', '{"password":"***'],
    [
      "a signature of a URL",
      "https://s3/x?X-Amz-Signature=canary&y=1",
      "https://s3/x?X-Amz-Signature=***&y=1",
    ],
    ["a token behind a colon", "token: canary-1 refused", "token: *** refused"],
    ["a JSON Web Token", "got eyJhbGciOiJI.eyJzdWIiOiIx.c2ln back", "got *** back"],
    ["a private key", `it is ${pem} there`, "it is *** there"],
    ["an incomplete private key", "-----BEGIN RSA PRIVATE KEY-----\nMIIcanary", "***"],
    ["a token of a well-known form", "ghp_canarycanary and whsec_canary/canary=", "*** and ***"],
    [
      "arguments of Redis",
      "ERR unknown command 'X', with args beginning with: 'canary' ",
      "ERR unknown command 'X', with args beginning with: ***",
    ],
  ])("%s", (_, text, expected) => expect(redact(text)).toBe(expected));

  it.each([
    "canary",
    '{"x": canary',
    "canary-canary-canary-canary-canary-canary-canary-canary",
    '{"a": [1, "b", canary]}',
  ])("the excerpt in an error of JSON.parse for %j", (text) => {
    expect(jsonError(text)).toContain("canary".slice(0, 3));
    expect(redact(jsonError(text))).not.toContain("can");
  });
});

describe("does not change", () => {
  it.each([
    "spec.password: expected a string",
    "spec.token: Invalid input: expected string, received number",
    "It sends a bearer token; basic authentication is refused.",
    "Redis at 127.0.0.1:6379 is not reachable: connect ECONNREFUSED 127.0.0.1:6379. Start it, or give its URL.",
    "Back-off pulling image registry.example.com:5000/a/b:1@sha256:abc",
    "mail to ada@example.com about http://example.com/x",
    "the Secret web/stripe has no key signing-secret",
    "Redis requires a password. Give one.",
  ])("%s", (text) => expect(redact(text)).toBe(text));
});

it("changes no more when it is repeated", () => {
  const texts = [
    `password=canary Authorization: Bearer x y http://a:b@c ${pem}`,
    '{"token":"a","cookie":"b"}',
  ];
  for (const text of texts) expect(redact(redact(text))).toBe(redact(text));
});

it("takes linear time for any text", () => {
  const hostile = [
    "://",
    ":/@",
    "://a:",
    "password=",
    '"password":"',
    'password:"\\',
    "authorization:",
    "eyJ",
    "-eyJaaaaaaaaa",
    "eyJaaaaaaaa.",
    "-----BEGIN PRIVATE KEY-----",
    "-----BEGIN ",
    "Unexpected token ",
    '"',
    "bearer ",
    "\\",
    "a",
    " ",
    "whsec_",
    '\\"',
    "password\\\\\\'",
  ];
  for (const piece of hostile) {
    const took = (size: number): number => {
      const text = piece.repeat(size / piece.length);
      const begun = performance.now();
      redact(text);
      return performance.now() - begun;
    };
    took(50_000);
    // Quadratic time would be seconds for a megabyte.
    expect(took(1_000_000), piece).toBeLessThan(1_000);
  }
});

it("recognises names of secrets", () => {
  expect(
    ["password", "DB_PASSWORD", "x-api-key", "Authorization", "set-cookie", "clientSecret"].every(
      isSecretName,
    ),
  ).toBe(true);
  expect(["tokens", "key", "passwordless", "secretName"].some(isSecretName)).toBe(false);
});
