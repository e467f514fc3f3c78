import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

/** The user, and the file name, of the certificate with which the API server passes requests on. */
const proxy = "front-proxy";

/**
 * Flags with which an API server passes requests on to the servers of other API groups. It names the user in headers,
 * which those servers accept from the holder of this certificate alone.
 */
export async function aggregationFlags(bin: string, folder: string): Promise<readonly string[]> {
  await promisify(execFile)(join(bin, "pki"), [folder, proxy, proxy]);
  return [
    `--proxy-client-cert-file=${join(folder, `${proxy}.crt`)}`,
    `--proxy-client-key-file=${join(folder, `${proxy}.key`)}`,
    `--requestheader-client-ca-file=${join(folder, "ca.crt")}`,
    `--requestheader-allowed-names=${proxy}`,
    "--requestheader-username-headers=X-Remote-User",
    "--requestheader-group-headers=X-Remote-Group",
    "--requestheader-extra-headers-prefix=X-Remote-Extra-",
  ];
}
