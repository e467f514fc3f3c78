import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { folderOfFile } from "../../../../packages/testing/src/folder.fixture.ts";
import {
  coversHosts,
  createAuthority,
  createServerCertificate,
  isDueForRenewal,
  isSignedBy,
  readCertificate,
  readCertifiedKey,
} from "./certificates.ts";

const folder = folderOfFile();
const file = (name: string, content: string): string => {
  writeFileSync(join(folder, name), content);
  return join(folder, name);
};
/** The judge: it has no line of ours. Its strict mode is the default of Python 3.13. */
const openssl = async (...args: readonly string[]): Promise<string> =>
  (await promisify(execFile)("openssl", args)).stdout;
const seconds = (date: Date): string => String(Math.floor(date.getTime() / 1_000));
const verify = (authority: string, certificate: string, at: Date, ...more: readonly string[]) =>
  openssl(
    ...["verify", "-x509_strict", "-purpose", "sslserver", "-attime", seconds(at)],
    ...["-CAfile", authority, ...more, certificate],
  );
const day = 86_400_000;
const begin = new Date("2026-11-01T00:00:00Z");
const after = (days: number): Date => new Date(begin.getTime() + days * day);
const hosts = ["valkey.drover", "valkey.drover.svc", "127.0.0.1", "fd00::1:2"];

describe("openssl", async () => {
  const authority = await createAuthority(begin);
  const server = await createServerCertificate(authority, hosts, begin);
  const ca = file("ca.crt", authority.certificate);
  const crt = file("server.crt", server.certificate);

  it.each(hosts)("accepts the server's certificate for %s", async (host) => {
    const option = host.includes(":") || /^[\d.]+$/.test(host) ? "-verify_ip" : "-verify_hostname";
    expect(await verify(ca, crt, after(1), option, host)).toMatch(/OK$/m);
  });
  it("refuses it for another host, after its 90 days, and before an hour before it was made", async () => {
    await expect(verify(ca, crt, after(1), "-verify_hostname", "valkey.other")).rejects.toThrow(/mismatch/);
    await expect(verify(ca, crt, after(91))).rejects.toThrow(/expired/);
    expect(await verify(ca, crt, new Date(begin.getTime() - 3_599_000))).toMatch(/OK$/m);
    await expect(verify(ca, crt, after(-1))).rejects.toThrow(/not yet valid/);
  });
  it("refuses it with another authority, which has the same name", async () => {
    const other = file("other.crt", (await createAuthority(begin)).certificate);
    await expect(verify(other, crt, after(1))).rejects.toThrow();
  });
  it("refuses a certificate that the server's key has signed", async () => {
    const forged = await createServerCertificate(server, ["other"], begin);
    const chain = file("chain.crt", server.certificate);
    await expect(
      verify(ca, file("forged.crt", forged.certificate), after(1), "-untrusted", chain),
    ).rejects.toThrow();
  });
  it("finds the key of each certificate", async () => {
    for (const { certificate, key } of [authority, server]) {
      const ofKey = await openssl("pkey", "-pubout", "-in", file("key.pem", key));
      expect(await openssl("x509", "-noout", "-pubkey", "-in", file("one.crt", certificate))).toBe(ofKey);
    }
  });
  it("accepts old and new server certificates with old and new certificates of one authority, beyond 2050", async () => {
    const years = 365 * 24;
    const late = await createAuthority(after(years), authority.key);
    const both = [
      await createServerCertificate(authority, hosts, after(3_640)),
      await createServerCertificate(late, hosts, after(years)),
    ];
    const [old, now] = both.map(({ certificate }, i) => file(`of-${i}.crt`, certificate));
    expect(await verify(ca, old!, after(3_641))).toMatch(/OK$/m);
    expect(await verify(file("late.crt", late.certificate), now!, after(years + 1))).toMatch(/OK$/m);
    expect(isSignedBy(readCertificate(both[1]!.certificate), readCertificate(authority.certificate))).toBe(
      true,
    );
    expect(late.key).toBe(authority.key);
  });
  it("finds serial numbers that are positive and differ", async () => {
    const made = await Promise.all(
      Array.from({ length: 20 }, () => createServerCertificate(authority, hosts, begin)),
    );
    const serials = await Promise.all(
      made.map(({ certificate }, i) =>
        openssl("x509", "-noout", "-serial", "-in", file(`serial-${i}.crt`, certificate)),
      ),
    );
    expect(new Set(serials).size).toBe(20);
    expect(serials.filter((line) => !/^serial=[4-7][0-9A-F]{31}$/m.test(line))).toEqual([]);
  });
});

it("a certificate is due for renewal after two thirds of its life", async () => {
  const authority = await createAuthority(begin);
  const server = readCertificate((await createServerCertificate(authority, hosts, begin)).certificate);
  expect([59, 60.1, 89].map((days) => isDueForRenewal(server, after(days)))).toEqual([false, true, true]);
  const own = readCertificate(authority.certificate);
  expect([2_433, 2_434].map((days) => isDueForRenewal(own, after(days)))).toEqual([false, true]);
});

it("a certificate that is not valid yet is due for renewal", async () => {
  const { certificate } = await createAuthority(new Date(Date.now() + 86_400_000));
  expect(isDueForRenewal(readCertificate(certificate), new Date())).toBe(true);
});

it("a certificate covers hosts only if it names all of them", async () => {
  const authority = await createAuthority(begin);
  const { certificate } = await createServerCertificate(authority, hosts, begin);
  expect(coversHosts(readCertificate(certificate), hosts)).toBe(true);
  expect(coversHosts(readCertificate(certificate), [...hosts, "127.0.0.2"])).toBe(false);
  expect(coversHosts(readCertificate(certificate), ["valkey"])).toBe(false);
});

it("a key of another certificate, and text that is none, are refused without their content", async () => {
  const [one, other] = [await createAuthority(begin), await createAuthority(begin)];
  expect(() => readCertifiedKey({ ...one, key: other.key })).toThrow("tls.key is not the key of tls.crt");
  expect(() => readCertifiedKey({ ...one, key: "canary" })).toThrow(/^tls\.key cannot be read$/);
  expect(() => readCertifiedKey({ ...one, certificate: "canary" })).toThrow(
    /^its certificate cannot be read$/,
  );
});
