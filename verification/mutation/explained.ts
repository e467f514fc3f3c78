import type { Mutant } from "./mutants.ts";

/** A change that no test can notice, or that none should be written for. */
interface Explained {
  readonly file: string;
  readonly original: string;
  readonly replacement: string;
  readonly reason: string;
}

const EXPLAINED: readonly Explained[] = [];

/** Why a mutant may survive, where that is known. */
export const explanation = ({ file, original, replacement }: Mutant): string | undefined =>
  EXPLAINED.find((one) => one.file === file && one.original === original && one.replacement === replacement)
    ?.reason;
