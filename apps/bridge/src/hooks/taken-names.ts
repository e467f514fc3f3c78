import type { RegisteredFunction } from "../registered-functions.ts";

/** Of several hooks of one name the first function's is in use; the others' functions go on without, and are told so. */
export function withoutTakenHooks(oldestFirst: readonly RegisteredFunction[]): readonly RegisteredFunction[] {
  const taken = new Map<string, string>();
  return oldestFirst.map((each) => {
    const { key, registration } = each;
    if (registration === undefined) return each;
    const lost = registration.hooks.filter(({ name }) => taken.has(name));
    for (const { name } of registration.hooks) if (!taken.has(name)) taken.set(name, key);
    if (lost.length === 0) return each;
    const hooks = registration.hooks.filter((hook) => !lost.includes(hook));
    const problem = lost
      .map(
        ({ name }) => `The hook's name ${name} is taken by ${taken.get(name) ?? ""}, and is not in use here.`,
      )
      .join(" ");
    return { ...each, registration: { ...registration, hooks }, problem: `${problem} Rename it.` };
  });
}

/** What hooks of one name two files have; undefined when there are none. */
export function hookTwice(hooks: readonly { readonly name: string }[]): string | undefined {
  const names = hooks.map(({ name }) => name);
  return names.find((name, i) => names.indexOf(name) < i);
}
