import { Integer, OctetString, Utf8String, BitString } from "asn1js";
import {
  createHash,
  createPrivateKey,
  type KeyObject,
  randomBytes,
  webcrypto,
  X509Certificate,
} from "node:crypto";
import { isIP } from "node:net";
import {
  AttributeTypeAndValue,
  AuthorityKeyIdentifier,
  BasicConstraints,
  Certificate,
  Extension,
  ExtKeyUsage,
  GeneralName,
  GeneralNames,
  RelativeDistinguishedNames,
  Time,
  TimeType,
} from "pkijs";

/** A certificate and its private key, as PEM. */
export interface CertifiedKey {
  readonly certificate: string;
  readonly key: string;
}

const hour = 3_600_000;
const day = 24 * hour;
/** The clocks of servers and clients may differ by this. */
const clockDifference = hour;
const authorityLife = 3_650 * day;
const serverLife = 90 * day;

const algorithm = { name: "ECDSA", namedCurve: "P-256" } as const;
const authorityName = "Drover's authority for Redis";
/** Clients look at the hosts only. A name has at most 64 characters, a host may have more. */
const serverName = "Drover's Redis";

/**
 * Makes an authority, or with `key` a new certificate of an existing one. That has the same name and key, so both
 * certificates verify whatever the authority has signed.
 */
export async function createAuthority(now: Date, key?: string): Promise<CertifiedKey> {
  const keys = await (key === undefined ? newKeys() : keysOf(key));
  const certificate = await sign(
    {
      name: authorityName,
      keys,
      life: authorityLife,
      now,
      extensions: [
        extension("2.5.29.19", true, new BasicConstraints({ cA: true, pathLenConstraint: 0 })),
        // keyCertSign
        keyUsage(0b0000_0100, 2),
      ],
    },
    keys,
  );
  return { certificate, key: keys.pem };
}

/** Makes the certificate of a server at these hosts: names, or IP addresses. */
export async function createServerCertificate(
  authority: CertifiedKey,
  hosts: readonly string[],
  now: Date,
): Promise<CertifiedKey> {
  const keys = await newKeys();
  const names = hosts.map((host) =>
    isIP(host) === 0
      ? new GeneralName({ type: 2, value: host })
      : new GeneralName({ type: 7, value: new OctetString({ valueHex: addressBytes(host) }) }),
  );
  const certificate = await sign(
    {
      name: serverName,
      keys,
      life: serverLife,
      now,
      extensions: [
        extension("2.5.29.19", true, new BasicConstraints({ cA: false })),
        // digitalSignature
        keyUsage(0b1000_0000, 7),
        // serverAuth
        extension("2.5.29.37", false, new ExtKeyUsage({ keyPurposes: ["1.3.6.1.5.5.7.3.1"] })),
        extension("2.5.29.17", false, new GeneralNames({ names })),
      ],
    },
    await keysOf(authority.key),
  );
  return { certificate, key: keys.pem };
}

/** Reads a certificate and its key. @throws Error with the problem, which contains nothing of either. */
export function readCertifiedKey({ certificate, key }: CertifiedKey): X509Certificate {
  const read = readCertificate(certificate);
  if (!read.checkPrivateKey(readKey(key))) throw new Error("tls.key is not the key of tls.crt");
  return read;
}

/** @throws Error with the problem. */
export function readCertificate(pem: string): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch (cause) {
    throw new Error("its certificate cannot be read", { cause });
  }
}

function readKey(pem: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch {
    // Without its cause, which may show the key.
    throw new Error("tls.key cannot be read");
  }
}

/** True if two thirds of its life are over, or it was made by a clock that ran ahead and is not valid yet. */
export function isDueForRenewal({ validFromDate, validToDate }: X509Certificate, now: Date): boolean {
  const [from, to] = [validFromDate.getTime(), validToDate.getTime()];
  return from > now.getTime() || now.getTime() >= from + ((to - from) * 2) / 3;
}

export const isExpired = ({ validToDate }: X509Certificate, now: Date): boolean => now > validToDate;

/** True if certificates can be made with this authority: it has the name and the kind of key of those made here. */
export const isOwnAuthority = ({ ca, subject, publicKey }: X509Certificate): boolean =>
  ca && subject === `CN=${authorityName}` && publicKey.asymmetricKeyDetails?.namedCurve === "prime256v1";

/** True if the authority has signed the certificate. */
export const isSignedBy = (certificate: X509Certificate, authority: X509Certificate): boolean =>
  certificate.checkIssued(authority) && certificate.verify(authority.publicKey);

/** True if the certificate is valid for all these hosts. */
export const coversHosts = (certificate: X509Certificate, hosts: readonly string[]): boolean =>
  hosts.every(
    (host) => (isIP(host) === 0 ? certificate.checkHost(host) : certificate.checkIP(host)) !== undefined,
  );

interface Keys {
  readonly privateKey: webcrypto.CryptoKey;
  readonly publicKey: webcrypto.CryptoKey;
  /** The private key. */
  readonly pem: string;
}

async function newKeys(): Promise<Keys> {
  const { privateKey, publicKey } = await webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const bytes = Buffer.from(await webcrypto.subtle.exportKey("pkcs8", privateKey));
  return { privateKey, publicKey, pem: pemOf("PRIVATE KEY", bytes) };
}

async function keysOf(pem: string): Promise<Keys> {
  const { d, ...open } = readKey(pem).export({ format: "jwk" });
  const importKey = (jwk: webcrypto.JsonWebKey, use: "sign" | "verify") =>
    webcrypto.subtle.importKey("jwk", jwk, algorithm, true, [use]);
  const [privateKey, publicKey] = await Promise.all([
    importKey({ ...open, ...(d !== undefined && { d }) }, "sign"),
    importKey(open, "verify"),
  ]);
  return { privateKey, publicKey, pem };
}

interface Wanted {
  readonly name: string;
  readonly keys: Keys;
  readonly life: number;
  readonly now: Date;
  readonly extensions: readonly Extension[];
}

async function sign({ name, keys, life, now, extensions }: Wanted, issuer: Keys): Promise<string> {
  const certificate = new Certificate();
  // Version 3.
  certificate.version = 2;
  certificate.serialNumber = new Integer({ valueHex: toArrayBuffer(serialNumber()) });
  certificate.subject = commonName(name);
  certificate.issuer = commonName(authorityName);
  certificate.notBefore = timeOf(now.getTime() - clockDifference);
  certificate.notAfter = timeOf(now.getTime() + life);
  await certificate.subjectPublicKeyInfo.importKey(keys.publicKey);
  const [own, signer] = await Promise.all([keyIdentifier(keys), keyIdentifier(issuer)]);
  certificate.extensions = [
    ...extensions,
    extension("2.5.29.14", false, { toSchema: () => own }),
    extension("2.5.29.35", false, new AuthorityKeyIdentifier({ keyIdentifier: signer })),
  ];
  await certificate.sign(issuer.privateKey, "SHA-256");
  return pemOf("CERTIFICATE", Buffer.from(certificate.toSchema(true).toBER(false)));
}

const extension = (
  extnID: string,
  critical: boolean,
  value: { toSchema(): { toBER(sizeOnly: boolean): ArrayBuffer } },
): Extension => new Extension({ extnID, critical, extnValue: value.toSchema().toBER(false) });

const keyUsage = (bits: number, unusedBits: number): Extension =>
  extension("2.5.29.15", true, {
    toSchema: () => new BitString({ valueHex: toArrayBuffer(Buffer.of(bits)), unusedBits }),
  });

/** RFC 7093: the first 160 bits of the SHA-256 of the public key. */
async function keyIdentifier({ publicKey }: Keys): Promise<OctetString> {
  const bytes = Buffer.from(await webcrypto.subtle.exportKey("raw", publicKey));
  return new OctetString({
    valueHex: toArrayBuffer(createHash("sha256").update(bytes).digest().subarray(0, 20)),
  });
}

const commonName = (value: string): RelativeDistinguishedNames =>
  new RelativeDistinguishedNames({
    typesAndValues: [new AttributeTypeAndValue({ type: "2.5.4.3", value: new Utf8String({ value }) })],
  });

/** RFC 5280: UTCTime until 2049, GeneralizedTime from 2050 on. Both have seconds, no fractions. */
function timeOf(ms: number): Time {
  const value = new Date(Math.floor(ms / 1_000) * 1_000);
  return new Time({
    type: value.getUTCFullYear() < 2050 ? TimeType.UTCTime : TimeType.GeneralizedTime,
    value,
  });
}

/** Positive, and without a leading zero. */
function serialNumber(): Buffer {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x3f) | 0x40;
  return bytes;
}

/** The 4 or 16 bytes of an IP address. */
function addressBytes(host: string): ArrayBuffer {
  if (isIP(host) === 4) return toArrayBuffer(Buffer.from(host.split(".").map(Number)));
  // The URL parser writes an IPv4 part of it as hex.
  const [head = "", tail] = new URL(`http://[${host}]`).hostname.slice(1, -1).split("::");
  const groups = (text = ""): readonly string[] => (text === "" ? [] : text.split(":"));
  const [before, after] = [groups(head), groups(tail)];
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => "0");
  const hex = [...before, ...zeros, ...after].map((group) => group.padStart(4, "0")).join("");
  return toArrayBuffer(Buffer.from(hex, "hex"));
}

const toArrayBuffer = (bytes: Buffer): ArrayBuffer => new Uint8Array(bytes).buffer;

const pemOf = (label: string, bytes: Buffer): string =>
  `-----BEGIN ${label}-----\n${bytes.toString("base64").replace(/.{64}(?=.)/g, "$&\n")}\n-----END ${label}-----\n`;
