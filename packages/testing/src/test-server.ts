import type { Upstream } from "./fault-proxy/index.ts";
import { isWellFormed, type KubeClient, type KubeObject, resourceNameOf } from "@drover/kube";
import { startSandbox } from "@drover/sandbox";
import type { SteppedClock } from "./simulation/stepped-clock.ts";

/** The API server of one test. */
export interface TestServer {
  readonly upstream: Upstream;
  /** Another way to the same objects, which shows those of one moment once it is frozen. */
  staleView(): Promise<{ readonly upstream: Upstream; freeze(): void }>;
  /** Changes with everything that changes: spares looking where nothing has. */
  readonly version?: () => string;
  /** Reads what there is without asking over HTTP. Which objects are asked for is not looked at: all of the kind come. */
  readonly lister?: Lister;
  /** Resolves once what has lost its owners is gone, where somebody sees to that in a time of its own. */
  readonly collected?: () => Promise<void>;
  /** Others come after this test: what it made is to be removed. */
  readonly isShared: boolean;
  close(): Promise<void>;
}

/** What looks at the cluster from outside: tests and the bridge, which are quicker with a shorter way. */
export type Lister = Pick<KubeClient, "list">;

/** Gives every test its API server. */
export type TestServerFactory = (clock: SteppedClock) => Promise<TestServer>;

/** A sandbox for each, by the test's clock. */
export const sandboxServers: TestServerFactory = async (clock) => {
  const sandbox = await startSandbox({ now: clock.date });
  return {
    upstream: { url: sandbox.url, token: sandbox.token },
    async staleView() {
      const view = await sandbox.staleView();
      return { upstream: { url: view.url, token: sandbox.token }, freeze: () => view.freeze() };
    },
    version: () => sandbox.resourceVersion,
    lister: {
      list: (ref) => {
        const items = sandbox.objects(resourceNameOf(ref)).map(wellFormed);
        const { resourceVersion } = sandbox;
        return Promise.resolve({ items, resourceVersion, continue: undefined, remaining: undefined });
      },
    },
    isShared: false,
    close: () => sandbox.close(),
  };
};

function wellFormed(object: unknown): KubeObject {
  if (isWellFormed(object)) return object;
  throw new Error(`The sandbox holds what is no object: ${JSON.stringify(object)}`);
}

export interface SharedServer {
  /** Of an API server that nobody else uses meanwhile. */
  readonly kubeconfig: string;
  readonly context?: string;
  /**
   * A second API server of the same objects, whose link to them can be held up; it answers reads of the newest state
   * with its cache's. Left out: a test that needs one fails.
   */
  readonly staleView?: () => Promise<{ readonly kubeconfig: string; freeze(): void; thaw(): void }>;
  /**
   * Resolves once Kubernetes' garbage collector has nothing left to do, of the kinds that the tests know. Left out:
   * there is none, and what has lost its owners stays.
   */
  readonly collected?: () => Promise<void>;
}

/**
 * One API server for all tests, one after the other: what a test made is removed at its end, but for the definitions of
 * kinds. Its clock is the machine's.
 */
export function sharedServer({ staleView, collected, ...upstream }: SharedServer): TestServerFactory {
  return () => {
    const thawing: (() => void)[] = [];
    return Promise.resolve({
      upstream,
      async staleView() {
        if (staleView === undefined)
          throw new Error("This API server has no stale view: give one with `staleView`.");
        const view = await staleView();
        thawing.push(() => view.thaw());
        return { upstream: { kubeconfig: view.kubeconfig }, freeze: () => view.freeze() };
      },
      ...(collected && { collected }),
      isShared: true,
      close() {
        for (const thaw of thawing) thaw();
        return Promise.resolve();
      },
    });
  };
}
