import { once } from "node:events";
import { createServer, get, type IncomingMessage, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { bearerTokenOf, withPageGuard, isLoopback, newToken, serverWithToken, verifyToken } from "./index.ts";
import { isSameToken } from "./bearer.ts";
import { type PageGuard, pageProblem } from "./page-guard.ts";

const asked = (localAddress: string | undefined, headers: Record<string, string[]>) => ({
  socket: localAddress === undefined ? {} : { localAddress },
  headersDistinct: headers,
});
const refuses = (guard: PageGuard, localAddress: string | undefined, headers: Record<string, string[]>) =>
  pageProblem(asked(localAddress, headers), guard) !== undefined;

describe("a request of a web page is detected by", () => {
  const everywhere: PageGuard = { where: "everywhere", hosts: ["sandbox"] };
  it.each<[string, Record<string, string[]>, boolean]>([
    ["the address that the connection came to", { host: ["10.1.2.3:8080"] }, false],
    ["another address", { host: ["10.1.2.4:8080"] }, true],
    ["loopback, as behind a published port", { host: ["127.0.0.1:8001"] }, false],
    ["a configured name", { host: ["Sandbox:80"] }, false],
    ["another name", { host: ["sandbox.evil.example"] }, true],
    ["no Host", {}, true],
    ["two Hosts", { host: ["localhost", "evil.example"] }, true],
    ["a Host with a path", { host: ["localhost/x"] }, true],
    ["an address in other digits", { host: ["2130706433"] }, true],
    ["a short address", { host: ["127.1"] }, true],
    ["an octal address", { host: ["0177.0.0.1"] }, true],
    ["a name with a dot at its end", { host: ["localhost."] }, true],
    ["IPv6 of all addresses", { host: ["[::]:80"] }, true],
    ["an Origin", { host: ["localhost"], origin: ["http://localhost"] }, true],
    ["a navigation by the address bar", { host: ["localhost"], "sec-fetch-site": ["none"] }, false],
    ["a request of the same origin", { host: ["localhost"], "sec-fetch-site": ["same-origin"] }, false],
    ["a page of the same site", { host: ["localhost"], "sec-fetch-site": ["same-site"] }, true],
    ["a port that is too long", { host: ["localhost:123456"] }, true],
    ["two values of sec-fetch-site", { host: ["localhost"], "sec-fetch-site": ["none", "cross-site"] }, true],
  ])("%s", (_what, headers, isPage) => {
    expect(refuses(everywhere, "::ffff:10.1.2.3", headers)).toBe(isPage);
  });

  it("its own IPv6 address is a valid Host, and another one is not", () => {
    expect(refuses(everywhere, "fd00::1", { host: ["[fd00::1]:80"] })).toBe(false);
    expect(refuses(everywhere, "fd00::1", { host: ["[fd00::2]:80"] })).toBe(true);
    expect(refuses(everywhere, "fd00::1", { host: ["[::1]"] })).toBe(false);
  });

  it("a listener that checks only loopback accepts all other requests: probes, Prometheus and KEDA in a cluster", () => {
    const guard: PageGuard = { where: "loopback" };
    const headers = { host: ["deployer.drover:8080"], origin: ["http://a"] };
    for (const address of ["10.1.2.3", "fd00::1", "::ffff:192.168.0.1"])
      expect(refuses(guard, address, headers)).toBe(false);
    for (const address of ["127.0.0.1", "127.8.9.10", "::1", "::ffff:127.0.0.1", undefined])
      expect(refuses(guard, address, headers)).toBe(true);
  });

  it("if any Host is valid, other headers of a page are checked", () => {
    const guard: PageGuard = { where: "loopback", hosts: "any" };
    expect(refuses(guard, "127.0.0.1", { host: ["greetings.default.svc"] })).toBe(false);
    expect(refuses(guard, "127.0.0.1", { host: ["greetings.default.svc"], origin: ["null"] })).toBe(true);
  });
});

it("recognises loopback addresses, and no similar names", () => {
  for (const host of ["localhost", "127.0.0.1", "127.255.0.9", "::1", "::ffff:127.0.0.1"])
    expect([host, isLoopback(host)]).toEqual([host, true]);
  for (const host of [
    "0.0.0.0",
    "::",
    "128.0.0.1",
    "127.0.0.1.nip.io",
    "localhost.evil",
    "127.1",
    "",
    "::ffff:10.0.0.1",
  ])
    expect([host, isLoopback(host)]).toEqual([host, false]);
});

describe("a bearer token", () => {
  const given = (...authorization: string[]) => bearerTokenOf({ headersDistinct: { authorization } });
  it("is read from a single valid header", () => {
    expect(given("Bearer abc.d-e_f~g+h/i==")).toBe("abc.d-e_f~g+h/i==");
    for (const header of ["abc", "Basic abc", "Bearer", "Bearer a b", "Bearer a,b", "xBearer a", "Bearer =a"])
      expect([header, given(header)]).toEqual([header, undefined]);
    expect(given("Bearer a", "Bearer a")).toBeUndefined();
    expect(bearerTokenOf({ headersDistinct: {} })).toBeUndefined();
  });

  it.each([
    [undefined, "/t0ken/api/v1?watch=1", true, "/api/v1?watch=1"],
    [undefined, "/t0ken", true, "/"],
    [undefined, "/t0ken?a=b", true, "/?a=b"],
    [undefined, "/t0ken/", true, "/"],
    [undefined, "/t0kens/api", false, "/t0kens/api"],
    [undefined, "/api/t0ken", false, "/api/t0ken"],
    ["Bearer t0ken", "/api", true, "/api"],
    ["Bearer t0ken", "/t0ken/api", true, "/api"],
    ["Bearer other", "/t0ken/api", true, "/api"],
    ["Bearer other", "/api", false, "/api"],
    ["Basic t0ken", "/api", false, "/api"],
  ])(
    "with the header %s, of a request for %s, is accepted: %s, and %s is served",
    (header, url, is, left) => {
      const request = { url, headersDistinct: header === undefined ? {} : { authorization: [header] } };
      expect(verifyToken(request as unknown as IncomingMessage, "t0ken")).toBe(is);
      expect(request.url).toBe(left);
    },
  );

  it("in a kubeconfig's server is read from the path", () => {
    const url = new URL(serverWithToken("http://127.0.0.1:8001", "t0ken")).pathname;
    const request = { url: `${url}/api`, headersDistinct: {} } as unknown as IncomingMessage;
    expect([verifyToken(request, "t0ken"), request.url]).toEqual([true, "/api"]);
  });

  it("is compared completely, for any length", () => {
    const token = newToken();
    expect(token).toMatch(/^[0-9a-f]{64}$/);
    expect(isSameToken(token, token)).toBe(true);
    for (const other of ["", token.slice(1), `${token}0`, token.toUpperCase(), newToken()])
      expect(isSameToken(other, token)).toBe(false);
  });
});

describe("over a connection", () => {
  let server: Server | undefined;
  afterEach(() => server?.closeAllConnections());
  const start = async (): Promise<number> => {
    server = createServer(withPageGuard((_, response) => response.end("served"), { where: "everywhere" }));
    await once(server.listen(0, "127.0.0.1").unref(), "listening");
    return (server.address() as AddressInfo).port;
  };

  it("a refusal has the reason and advice, is sent before the body is received, and ends the connection", async () => {
    const socket = connect(await start(), "127.0.0.1");
    socket.write("POST / HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 1000000\r\n\r\n{");
    let answer = "";
    for await (const chunk of socket) answer += String(chunk);
    expect(answer).toMatch(/^HTTP\/1\.1 403 /);
    expect(answer).toMatch(
      /Refused: the Host header is "evil\.example".*at the address that the process logs/,
    );
  });

  it("a header is shown shortened, and in quotes", async () => {
    const port = await start();
    const headers = { host: `${"e".repeat(5_000)}.example` };
    const [response] = (await once(get({ port, host: "127.0.0.1", headers }), "response")) as [
      IncomingMessage,
    ];
    let text = "";
    for await (const chunk of response) text += String(chunk);
    expect(text).toContain(`"${"e".repeat(100)}"`);
    expect(text.length).toBeLessThan(500);
  });
});
