/** What is needed here of the shape of an attack. */
export interface Attack {
  /** The defence, as a sentence. */
  readonly name: string;
  /** The kind of weakness that it looks for. */
  readonly kind: string;
  readonly needs: readonly ("redis" | "cluster")[];
  run(world: AttackedWorld): Promise<Outcome>;
}

export interface AttackedWorld {
  readonly signal: AbortSignal;
  readonly log: (line: string) => void;
  readonly redis: () => { readonly url: string };
  readonly cluster: () => Installation;
}

export interface Outcome {
  readonly succeeded: boolean;
  readonly evidence: string;
}

export interface Installation {
  kubectl(
    args: readonly string[],
    options?: { readonly as?: string; readonly input?: string },
  ): Promise<string>;
  apply(objects: readonly object[], options?: { readonly as?: string }): Promise<string>;
  kubeconfigOf(user: { readonly user: string }): Promise<string>;
  may(user: { readonly user: string }, verb: string, resource: string, namespace?: string): Promise<boolean>;
  namespace(name: string): Promise<string>;
  grant(user: { readonly user: string }, rules: readonly object[], namespace?: string): Promise<void>;
  judged(
    namespace: string,
    name: string,
  ): Promise<{ readonly status: string; readonly reason: string; readonly message: string }>;
  until<T>(what: string, look: () => Promise<T | undefined | false>): Promise<T>;
}
