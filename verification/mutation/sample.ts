import { pseudoRandom } from "@drover/random";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { mutated, type FindMutants, type Mutant } from "./mutants.ts";
import { shippedFiles } from "./shipped.ts";
import type { HasNoTypeErrors } from "./type-check.ts";

/** What is mutated: each name has a sample of its own. */
export const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  runtime: ["packages/runtime"],
  bridge: ["apps/bridge", "packages/bridge", "packages/listener"],
  deployer: ["apps/deployer"],
  gateway: ["apps/gateway"],
  kube: ["packages/kube"],
  queue: ["packages/queue"],
  functions: ["functions/*"],
};

interface Sampling {
  readonly repository: string;
  readonly findMutants: FindMutants;
  readonly hasNoTypeErrors: HasNoTypeErrors;
  readonly seed: number;
  readonly count: number;
}

/**
 * Mutants of a package that the compiler accepts, drawn by a seed and evenly over its files: a second one of a file only
 * when every file has one. The first ten of sixty are those of a sample of ten.
 */
export async function sample(name: string, options: Sampling): Promise<readonly Mutant[]> {
  const { repository, findMutants, hasNoTypeErrors, seed, count } = options;
  const files = shippedFiles(repository, PACKAGES[name] ?? []);
  const draws = pseudoRandom(seed, Object.keys(PACKAGES).indexOf(name));
  let decks = await Promise.all(
    draws.some(files, files.length).map(async (file) => {
      const text = await readFile(join(repository, file), "utf8");
      return { file, text, mutants: [...(await findMutants(file, text))] };
    }),
  );
  decks = decks.map((deck) => ({ ...deck, mutants: draws.some(deck.mutants, deck.mutants.length) }));
  const drawn: Mutant[] = [];
  while (decks.length > 0) {
    for (const { file, text, mutants } of decks) {
      if (drawn.length === count) return drawn;
      const next = mutants.findIndex((mutant) => hasNoTypeErrors(file, mutated(text, mutant)));
      if (next >= 0) drawn.push(...mutants.slice(next, next + 1));
      mutants.splice(0, next < 0 ? mutants.length : next + 1);
    }
    decks = decks.filter(({ mutants }) => mutants.length > 0);
  }
  return drawn;
}
