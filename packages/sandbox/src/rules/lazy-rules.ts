// The evaluation of rules, and its library, are loaded with the first definition that has rules: the start of the sandbox
// does not wait for them.
import type * as Evaluation from "./evaluation.ts";

let loaded: typeof Evaluation | undefined;

/** Loads the evaluation of rules if a request may write a definition with rules. */
export async function loadRulesFor(body: string): Promise<void> {
  if (loaded === undefined && body.includes("x-kubernetes-validations"))
    loaded = await import("./evaluation.ts");
}

/** The evaluation of rules. Throws if no definition with rules was written. */
export function loadedRules(): typeof Evaluation {
  if (loaded === undefined) throw new Error("the rules of a definition were read before they were loaded");
  return loaded;
}
