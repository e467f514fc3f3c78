import { cronJobs } from "./cronjobs/family.ts";
import { deployments } from "./deployments/family.ts";
import { daemonSets } from "./daemonsets/family.ts";
import { endpointSlices } from "./endpointslices/family.ts";
import type { Family } from "./family.ts";
import { jobs } from "./jobs/family.ts";

export const families: readonly Family[] = [deployments, jobs, cronJobs, daemonSets, endpointSlices];

/** kube-controller-manager's `--controllers` beside the functions of these families. */
export const controllersBeside = (...some: readonly Pick<Family, "controllers">[]): readonly string[] => [
  ...new Set(some.flatMap(({ controllers }) => controllers)),
];

/** @throws Error if there is no family of that name */
export function familyNamed(name: string): Family {
  const found = families.find((one) => one.name === name);
  if (found) return found;
  throw new Error(
    `--family is one of ${families.map((one) => one.name).join(", ")}, not ${JSON.stringify(name)}.`,
  );
}
