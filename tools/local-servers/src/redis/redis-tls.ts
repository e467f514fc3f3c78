import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

export interface RedisTls {
  /** Settings of a server that takes TLS at this port, beside its own. */
  readonly args: (port: number) => readonly string[];
  /** The certificate of the authority: a file, and its content as PEM. */
  readonly caFile: string;
  readonly ca: string;
}

/**
 * A certificate for 127.0.0.1, and no name, of a private authority: files in a folder. Needs openssl, and a server that
 * speaks TLS, which that of `findRedis7` does and that of the wheel does not.
 *
 * @param name different for each authority of a folder.
 */
export async function privateTls(folder: string, name: string): Promise<RedisTls> {
  const file = (what: string): string => join(folder, `${name}-${what}`);
  const [caKey, caFile, key, certificate] = [file("ca.key"), file("ca.crt"), file("key"), file("crt")];
  const ec = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
  const make = (...args: readonly string[]) =>
    promisify(execFile)("openssl", ["req", "-x509", ...ec, ...args]);
  await make("-subj", `/CN=authority ${name}`, "-keyout", caKey, "-out", caFile);
  const extensions = ["-addext", "subjectAltName=IP:127.0.0.1", "-addext", "basicConstraints=CA:FALSE"];
  const signer = ["-CA", caFile, "-CAkey", caKey];
  await make("-subj", `/CN=${name}`, ...extensions, ...signer, "-keyout", key, "-out", certificate);
  return {
    args: (port) => [
      ...["--tls-port", String(port), "--tls-key-file", key, "--tls-cert-file", certificate],
      // Without --tls-ca-cert-file, it sends only its own certificate.
      ...["--tls-auth-clients", "no"],
    ],
    caFile,
    ca: await readFile(caFile, "utf8"),
  };
}
