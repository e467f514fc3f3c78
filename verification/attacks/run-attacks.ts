import { startRedis } from "@drover/local-servers";
import { glob } from "node:fs/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { join, relative } from "node:path";
import type { Attack, Outcome } from "./attack.ts";
import { type Installation, startInstallation } from "./installation.ts";

export interface AttackFile {
  readonly file: string;
  readonly attack: Attack;
}

/** All attacks in the files `*.attack.ts` below a folder, by file. */
export async function attacksIn(folder: URL): Promise<readonly AttackFile[]> {
  const root = fileURLToPath(folder);
  const files = (await Array.fromAsync(glob("**/*.attack.ts", { cwd: root }))).sort();
  return Promise.all(
    files.map(async (file) => {
      const module = (await import(pathToFileURL(join(root, file)).href)) as { attack?: Attack };
      if (module.attack === undefined) throw new Error(`${file} exports no attack.`);
      return { file: relative(root, join(root, file)), attack: module.attack };
    }),
  );
}

export interface AttackResult extends AttackFile {
  readonly verdict: "failed" | "SUCCEEDED" | "could not be made";
  readonly evidence: string;
}

/** Makes the attacks, one after the other; those on an installation share one. */
export async function runAttacks(
  attacks: readonly AttackFile[],
  log: (line: string) => void,
): Promise<readonly AttackResult[]> {
  let installed: Installation | undefined;
  const results: AttackResult[] = [];
  try {
    for (const one of attacks) {
      const { attack, file } = one;
      if (attack.needs.includes("cluster")) installed ??= await startInstallation(log);
      const begun = performance.now();
      const { verdict, evidence } = await verdictOf(attack, installed, log);
      const seconds = ((performance.now() - begun) / 1_000).toFixed(1);
      log(`${verdict.padEnd(9)} ${attack.name} [${file}, ${seconds} s]: ${evidence.split("\n", 1)[0] ?? ""}`);
      results.push({ ...one, verdict, evidence });
    }
  } finally {
    await installed?.stop();
  }
  return results;
}

async function verdictOf(
  attack: Attack,
  installed: Installation | undefined,
  log: (line: string) => void,
): Promise<Pick<AttackResult, "verdict" | "evidence">> {
  const server = attack.needs.includes("redis") ? await startRedis({ persistence: false }) : undefined;
  const ending = new AbortController();
  const needed = <T>(it: T | undefined, name: string): T => {
    if (it === undefined) throw new Error(`${attack.name} does not list ${name} in its needs.`);
    return it;
  };
  try {
    const outcome: Outcome = await attack.run({
      signal: ending.signal,
      log,
      redis: () => needed(server, "redis"),
      cluster: () => needed(installed, "cluster"),
    });
    return { verdict: outcome.succeeded ? "SUCCEEDED" : "failed", evidence: outcome.evidence };
  } catch (error) {
    // Neither held nor broken: what an attack expects around it was not there.
    return {
      verdict: "could not be made",
      evidence: error instanceof Error ? (error.stack ?? error.message) : String(error),
    };
  } finally {
    ending.abort();
    await server?.stop();
  }
}
