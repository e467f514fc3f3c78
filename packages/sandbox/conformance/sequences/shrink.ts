import type { Case, Step } from "../steps.ts";

/**
 * The shortest sequence that still fails: halves, quarters and so on are left out, and at last single requests.
 * `fails` is called for each; its result must not depend on earlier calls.
 */
export async function shrunk(one: Case, fails: (smaller: Case) => Promise<boolean>): Promise<Case> {
  let steps: readonly Step[] = one.steps;
  for (let size = Math.ceil(steps.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < steps.length;) {
      const smaller = [...steps.slice(0, at), ...steps.slice(at + size)];
      if (await fails({ ...one, steps: smaller })) steps = smaller;
      else at += size;
    }
  }
  return { ...one, steps };
}
