import type { Installation } from "./installation.ts";

/** An attack on what ships, as an attacker would make it: by HTTP, Redis' protocol, kubectl. */
export interface Attack {
  /** The defence, as a sentence: `an empty resourceNames is every name`. */
  readonly name: string;
  /** The kind of weakness that it looks for. */
  readonly kind: string;
  /** `redis`: an empty server for this attack alone. `cluster`: the installation, shared with other attacks. */
  readonly needs: readonly ("redis" | "cluster")[];
  /** Left out of the quick part, which `npm run test:real` runs. */
  readonly slow?: true;
  run(world: AttackedWorld): Promise<Outcome>;
}

export interface AttackedWorld {
  readonly signal: AbortSignal;
  readonly log: (line: string) => void;
  /** The server that the attack needs. @throws for an attack without it in `needs`. */
  readonly redis: () => { readonly url: string };
  /** The installation that the attack needs. @throws for an attack without it in `needs`. */
  readonly cluster: () => Installation;
}

/** An attack succeeded if anything was found; otherwise `defence` is the evidence. */
export const outcomeOf = (found: readonly string[], defence: string): Outcome => ({
  succeeded: found.length > 0,
  evidence: found.join("; ") || defence,
});

export interface Outcome {
  readonly succeeded: boolean;
  /** One line: the attacker's gain, or the reason why the attack failed. */
  readonly evidence: string;
}
