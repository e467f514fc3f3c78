import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

/** The folder with the keys and certificates of a cluster, and the administrator's. */
export interface Pki {
  readonly folder: string;
  readonly admin: { readonly ca: Buffer; readonly cert: Buffer; readonly key: Buffer };
}

/** A client of the cluster's API server, as its certificate names it. */
export interface CertifiedUser {
  readonly user: string;
  readonly groups?: readonly string[];
}

/** Signs a certificate for one more client. */
export async function signClient(
  bin: string,
  folder: string,
  { user, groups = [] }: CertifiedUser,
): Promise<Pki["admin"]> {
  const name = `client-${randomUUID()}`;
  await promisify(execFile)(join(bin, "pki"), [folder, name, user, ...groups]);
  return clientFiles(folder, name);
}

/** Makes all keys and certificates of a cluster, in `dir`/pki. The program go/pki chooses the names of the files. */
export async function createPki({ bin, dir }: { readonly bin: string; readonly dir: string }): Promise<Pki> {
  const folder = join(dir, "pki");
  await promisify(execFile)(join(bin, "pki"), [folder]);
  return { folder, admin: await clientFiles(folder, "admin") };
}

/** Reads the certificate and the key of a client, and that of the authority. */
export async function clientFiles(folder: string, name: string): Promise<Pki["admin"]> {
  const read = (file: string): Promise<Buffer> => readFile(join(folder, file));
  return { ca: await read("ca.crt"), cert: await read(`${name}.crt`), key: await read(`${name}.key`) };
}
