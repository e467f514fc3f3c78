import type { ExternalPort, PresentResource } from "./external-port.ts";
import type { ExternalContext } from "./external-spec.ts";
import { plannedPort } from "./planned-port.ts";
import type { Owner, RecordedResource } from "./ownership/ownership.ts";

/** One run for one object, with all that its steps need. */
export interface ExternalRun<Seen extends PresentResource, Details extends object = object> {
  readonly context: ExternalContext;
  readonly port: ExternalPort<Seen, Details>;
  readonly owner: Owner;
  readonly recorded: RecordedResource;
}

export function externalRun<Seen extends PresentResource, Details extends object>(
  context: ExternalContext,
  port: ExternalPort<Seen, Details>,
): ExternalRun<Seen, Details> {
  const { key, metadata, status, guard } = context;
  const { createdAt, creating } = status;
  const { plan } = guard;
  return {
    context: plan === undefined ? context : { ...context, guard: { beforeWrite: () => undefined } },
    port: plan === undefined ? port : plannedPort(port, plan),
    owner: { uid: metadata.uid, name: key },
    recorded: { name: port.recordedName, createdAt, creating },
  };
}

/** The resource at the beginning of a sentence: `Bucket team-a`. */
export const titleOf = ({ port }: Pick<ExternalRun<PresentResource>, "port">, name: string): string =>
  `${capitalized(port.words.noun)} ${name}`;

export const capitalized = (word: string): string => `${word.charAt(0).toUpperCase()}${word.slice(1)}`;
