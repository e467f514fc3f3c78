import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

export interface RedisToAsk {
  /** `host:port`. */
  readonly address: string;
  /** The name or address that its certificate must have: `-verify_ip A` or `-verify_hostname H` of openssl. */
  readonly named: readonly [string, string];
  /** PEM of the authority. */
  readonly ca: string;
}

/** Asks a Redis over a connection of openssl, which checks its certificate. */
export async function askRedis(
  { address, named, ca }: RedisToAsk,
  folder: string,
  ...lines: readonly string[]
): Promise<string> {
  const file = join(folder, "ca.crt");
  writeFileSync(file, ca);
  const running = promisify(execFile)("openssl", [
    ...["s_client", "-connect", address, "-CAfile", file, "-x509_strict", "-verify_return_error"],
    ...[...named, "-ign_eof"],
  ]);
  running.child.stdin?.end(`${[...lines, "QUIT"].join("\r\n")}\r\n`);
  return (await running).stdout;
}
