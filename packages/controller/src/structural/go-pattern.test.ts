import { describe, expect, it } from "vitest";
import { z } from "zod";
import { goPatternProblem } from "./go-pattern.ts";

describe("a pattern", () => {
  it.each([
    /^a+?b*c{2,}[d-f]{0,1000}$/,
    /^(?:a|b)(?<name>c)(d)\.\/\-\$\^\{\}$/,
    /^[^\]\\a-z[\-.]$/,
    /^[\w.-]+@\S+\s\d\D\W$/,
    /\bword\B\x41\t\n\r\f\v\0/,
    /^\p{Lu}\P{L}$/u,
    /^(?:[a-z]{1,63}\.){0,15}$/,
    /a{b}{,3}/, // braces that are no quantifier
    /^äöü😀$/,
    /[a[^]/, // an opening bracket inside a class
    /[-\w][\w-][a\-\d-\w]/,
    /\{02\}[{02}]/, // braces that are no quantifier, again
    z.regexes.uuid(),
    z.regexes.ipv4,
    z.regexes.ipv6,
    z.regexes.email,
    z.regexes.datetime({}),
    z.regexes.base64,
  ])("works in Go: %s", (pattern) => {
    expect(goPatternProblem(pattern)).toBeUndefined();
  });

  it.each<[RegExp, string]>([
    [/a/i, 'the flag "i"'],
    [/^a$/m, 'the flag "m"'],
    [/a.b/s, 'the flag "s"'],
    [/a/y, 'the flag "y"'],
    [/[a&&b]/v, 'the flag "v"'],
    [/a(?=b)/, "look-ahead"],
    [/a(?!b)/, "look-ahead"],
    [/(?<=a)b/, "look-behind"],
    [/(?<!a)b/, "look-behind"],
    [/(a)\1/, "back-references"],
    [/(?<a>a)\k<a>/, "back-references"],
    [/\u0041/, 'the escape "\\u"'],
    [/[\u0041]/, 'the escape "\\u"'],
    [/\cA/, 'the escape "\\c"'],
    [/\A\z/, 'the escape "\\A"'],
    [/[\b]/, 'the escape "\\b"'],
    [new RegExp("\\p{L}"), 'the escape "\\p"'],
    [/\p{Script=Greek}/u, 'the escape "\\p"'],
    [new RegExp("\\xz"), 'the escape "\\x"'],
    [/\é/, 'the escape "\\é"'],
    [/[]/, "no empty class"],
    [/[^]/, "no empty class"],
    [/[[:alpha:]]/, "a named class"],
    [/a{02}/, "without a leading 0"],
    [/a{1,03}/, "without a leading 0"],
    [/[[a]\Q/, 'the escape "\\Q"'],
    [/[\]]\cA/, 'the escape "\\c"'],
    [new RegExp("\\pL"), 'the escape "\\p"'],
    [new RegExp("\\x{41}"), 'the escape "\\x"'],
    [/[]a]/, "no empty class"],
    [/[^]a]/, "no empty class"],
    [/[a-\d]/, 'put the "-" last'],
    [/a{1001}/, "at most 1000"],
    [/a{5,1001}/, "at most 1000"],
    [/a{1001,}/, "at most 1000"],
    [/^(?:[a-z]{1,63}\.){1,20}$/, "nested repetitions multiplied"],
    [/((a{10}b){10}c){11}/, "nested repetitions multiplied"],
  ])("does not work in Go: %s", (pattern, reason) => {
    expect(goPatternProblem(pattern)).toContain(reason);
  });
});
