import fc from "fast-check";
import { expect, it } from "vitest";
import { allowedUrl, parseAllowed, UrlRefusedError } from "./allowed-urls.ts";

const label = fc.constantFrom("com", "example", "evilexample", "example-evil", "a", "xa", "s3");
const labels = fc.array(label, { minLength: 1, maxLength: 4 });
const scheme = fc.constantFrom("http", "https");
const port = fc.constantFrom(undefined, 80, 443, 8443);
const origin = fc.record({ scheme, labels, port, isEnd: fc.boolean() });
const usual = { http: 80, https: 443 } as const;
const written = ({ scheme, port }: { scheme: string; port: number | undefined }, host: string): string =>
  `${scheme}://${host}${port === undefined ? "" : `:${port}`}`;

it("allows the hosts that are named, and below *. whatever has a name in front of it", () => {
  fc.assert(
    fc.property(fc.array(origin, { maxLength: 3 }), origin, (allowed, { isEnd: _, ...asked }) => {
      const words = allowed.map((one) =>
        written(one, (one.isEnd ? ["*", ...one.labels] : one.labels).join(".")),
      );
      const portOf = (one: typeof asked): number => one.port ?? usual[one.scheme];
      const isAllowed = allowed.some(({ isEnd, ...one }) => {
        const front = asked.labels.length - one.labels.length;
        const isHost =
          (isEnd ? front > 0 : front === 0) &&
          one.labels.every((each, i) => each === asked.labels[front + i]);
        return isHost && one.scheme === asked.scheme && portOf(one) === portOf(asked);
      });
      const url = `${written(asked, asked.labels.join("."))}/hook`;
      const call = () => allowedUrl(url, parseAllowed(words)).href;
      if (isAllowed) expect(call()).toBe(new URL(url).href);
      else expect(call).toThrow(UrlRefusedError);
    }),
    { numRuns: 2_000 },
  );
});

it("allows every host of a scheme and port by *, and no other", () => {
  const any = parseAllowed(["https://*"]);
  expect(allowedUrl("https://hooks.example.com/a", any).hostname).toBe("hooks.example.com");
  for (const url of ["http://hooks.example.com/a", "https://hooks.example.com:8443/a"])
    expect(() => allowedUrl(url, any)).toThrow(/DROVER_WEBHOOK_ALLOW/);
});
