import type { Upstream } from "./fault-proxy/index.ts";
import { isWellFormed, type KubeClient, type KubeObject, resourceNameOf } from "@drover/kube";
import { startSandbox } from "@drover/sandbox";
import type { SteppedClock } from "./simulation/stepped-clock.ts";

/** The API server of one test. */
export interface TestServer {
  readonly upstream: Upstream;
  /** Another view of the same objects; once frozen, it shows the state at that moment. */
  staleView(): Promise<{ readonly upstream: Upstream; freeze(): void }>;
  /** Changes with every write, so that the caller can skip a list without changes. */
  readonly version?: () => string;
  /** Lists all objects of a kind without HTTP; ignores selectors. */
  readonly lister?: Lister;
  /** Resolves when the garbage collector has deleted the objects without owners, if it runs asynchronously. */
  readonly collected?: () => Promise<void>;
  /** True if other tests follow, so that the objects of this one must be removed. */
  readonly isShared: boolean;
  close(): Promise<void>;
}

/** Lists objects, for tests and the bridge. */
export type Lister = Pick<KubeClient, "list">;

/** Opens the API server of a test. */
export type TestServerFactory = (clock: SteppedClock) => Promise<TestServer>;

/** Opens a sandbox with the test's clock. */
export const sandboxServers: TestServerFactory = (clock) => openSandbox(clock, 0);

/**
 * Sandboxes with versions above those of all earlier ones. A called function lives through many tests, and answers
 * `conflict` to a call with an older version of an object than it has seen.
 */
export const successiveSandboxes: TestServerFactory = (clock) => openSandbox(clock, Date.now() * 1_000);

async function openSandbox(clock: SteppedClock, version: number): Promise<TestServer> {
  const sandbox = await startSandbox({ now: clock.date, version });
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
}

function wellFormed(object: unknown): KubeObject {
  if (isWellFormed(object)) return object;
  throw new Error(`The sandbox has a malformed object: ${JSON.stringify(object)}`);
}

export interface SharedServer {
  /** The kubeconfig of an API server that only the tests use. */
  readonly kubeconfig: string;
  readonly context?: string;
  /**
   * Opens a second API server of the same objects with a link that can be frozen; reads that a cache may answer return the
   * frozen state. Without it, a test that needs a stale view fails.
   */
  readonly staleView?: () => Promise<{ readonly kubeconfig: string; freeze(): void; thaw(): void }>;
  /**
   * Resolves when Kubernetes' garbage collector has nothing left to do for the tests' kinds. Without it, there is no garbage
   * collector, and objects without owners stay.
   */
  readonly collected?: () => Promise<void>;
}

/**
 * One API server for all tests, one after the other: the objects of a test, except for CRDs, are removed at its end. Its
 * clock is the machine's.
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
