import { readFile } from "node:fs/promises";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

/** Where the keys and certificates of a cluster are, and what a client needs to be its administrator. */
export interface Pki {
  readonly folder: string;
  readonly admin: { readonly ca: Buffer; readonly cert: Buffer; readonly key: Buffer };
}

/** Makes all keys and certificates of a cluster, in `dir`/pki; what the files are called is written in go/pki. */
export async function createPki({ bin, dir }: { readonly bin: string; readonly dir: string }): Promise<Pki> {
  const folder = join(dir, "pki");
  await promisify(execFile)(join(bin, "pki"), [folder]);
  const [ca, cert, key] = await Promise.all([
    readFile(join(folder, "ca.crt")),
    readFile(join(folder, "admin.crt")),
    readFile(join(folder, "admin.key")),
  ]);
  return { folder, admin: { ca, cert, key } };
}
