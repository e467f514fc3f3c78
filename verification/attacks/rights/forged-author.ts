import type { Installation } from "../installation.ts";
import { authorField, everything, functionOf } from "./function-of.ts";

const policies = new URL("../../../apps/deployer/deploy/authors.yaml", import.meta.url).pathname;

/** Weakens the admission policies, acts, and restores the policies, also after an error: other attacks share the cluster. */
export async function whileUnguarded<T>(
  { kubectl }: Installation,
  weaken: () => Promise<unknown>,
  act: () => Promise<T>,
): Promise<T> {
  try {
    await weaken();
    return await act();
  } finally {
    const noConditions = JSON.stringify({ spec: { matchConditions: null } });
    const policy = ["validatingadmissionpolicy", "drover-authors"];
    await kubectl(["patch", ...policy, "--type=merge", "-p", noConditions]);
    await kubectl(["apply", "-f", policies]);
  }
}

/** Applies a function that asks for all permissions and names `admin` as its author, until the API server stores it so. */
export async function forgeAuthor(
  { apply, fieldOf, until }: Installation,
  { namespace, name, as, epoch }: { namespace: string; name: string; as: string; epoch: string },
): Promise<void> {
  const forged = {
    "drover.dev/author": "admin",
    "drover.dev/author-groups": "system:masters",
    "drover.dev/author-epoch": epoch,
  };
  await until("the API server stores the forged author", async () => {
    const spec = { permissions: { cluster: everything }, container: { image: `evil:${Math.random()}` } };
    // Policies end one after another: one that is left may still refuse.
    await apply([functionOf(namespace, name, spec, forged)], { as }).catch(() => undefined);
    return (await fieldOf(namespace, name, authorField).catch(() => "")) === "admin";
  });
}
