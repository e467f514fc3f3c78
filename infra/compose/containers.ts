import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import type { ComposeCommand } from "./host-tools.ts";
import { FailedRunError, run } from "./run.ts";

/** The project of docker-compose.yml, as podman runs it. */
export interface Project {
  /** Runs a command of compose. */
  compose(...args: readonly string[]): Promise<string>;
  /**
   * Starts everything at once, in no order: podman would not start a container again while one that it depends on has
   * ended, as the installer of CRDs does. So each process has to wait for what it needs by itself.
   */
  up(...args: readonly string[]): Promise<string>;
  containers(service?: string): Promise<readonly Container[]>;
  /** The first container of a service. */
  one(service: string): Promise<Container>;
  /** Runs a program in a container and answers its output. */
  exec(container: Container, ...command: readonly string[]): Promise<string>;
  /** The last lines of its output. */
  logs(container: Container, lines?: number): Promise<string>;
  /**
   * Runs the container's declared health check until it passes. Podman leaves that to systemd, which does not run
   * here. Rejects with the last answer and the container's log when the signal fires first.
   */
  untilHealthy(container: Container, signal: AbortSignal): Promise<void>;
  podman(...args: readonly string[]): Promise<string>;
}

export interface ProjectOptions {
  readonly command: ComposeCommand;
  /** The folder of docker-compose.yml. */
  readonly root: string;
  readonly env: Readonly<Record<string, string>>;
}

/** A container, as `podman container inspect` shows it. */
const inspected = z
  .object({
    Id: z.string(),
    Name: z.string(),
    RestartCount: z.number(),
    State: z.object({ Running: z.boolean(), ExitCode: z.number(), Pid: z.number() }),
    Config: z.object({ Labels: z.record(z.string(), z.string()) }),
    NetworkSettings: z.object({
      Networks: z.record(z.string(), z.object({ IPAddress: z.string() })).nullish(),
    }),
  })
  .transform(({ Id, Name, RestartCount, State, Config, NetworkSettings }) => {
    const networks = Object.entries(NetworkSettings.Networks ?? {});
    const [, network] = networks.find(([name]) => name.endsWith("_api")) ?? networks[0] ?? [];
    return {
      id: Id,
      name: Name,
      service: Config.Labels["com.docker.compose.service"] ?? "",
      running: State.Running,
      exitCode: State.ExitCode,
      /** Id of its first process, outside of the container; 0 if it does not run. */
      pid: State.Pid,
      restarts: RestartCount,
      /** On the network that the API server is on, if it is there; else on one of its own. */
      address: network?.IPAddress,
    };
  });
/** A container of the project. */
export type Container = Readonly<z.output<typeof inspected>>;

export function openProject({ command, root, env }: ProjectOptions): Project {
  const podman = (...args: readonly string[]) => run(["podman", ...args], { env });
  const containers = async (service?: string): Promise<readonly Container[]> => {
    const ids = (await podman("ps", "--all", "--quiet", "--no-trunc")).split("\n").filter(Boolean);
    if (ids.length === 0) return [];
    const all = z.array(inspected).parse(JSON.parse(await podman("container", "inspect", ...ids)));
    return all.filter((one) => service === undefined || one.service === service);
  };
  const logs = async ({ id }: Container) =>
    run(["/bin/sh", "-c", 'podman logs "$1" 2>&1', "sh", id], { env });
  const compose = (...args: readonly string[]) =>
    run([...command.command, ...args], {
      cwd: root,
      env: { ...env, ...command.env },
      // Compose waits without end for a container that could not be created.
      signal: AbortSignal.timeout(120_000),
    });
  return {
    podman,
    compose,
    containers,
    logs,
    up: (...args) => compose("up", "--detach", "--no-build", "--no-deps", ...args),
    exec: ({ id }, ...program) => podman("exec", id, ...program),
    async one(service) {
      const [found] = await containers(service);
      if (found === undefined) throw new Error(`There is no container of ${service}.`);
      return found;
    },
    async untilHealthy(container, signal) {
      for (;;) {
        const problem = await podman("healthcheck", "run", container.id).then(
          () => undefined,
          messageOfFailure,
        );
        if (problem === undefined) return;
        if (signal.aborted)
          throw new Error(`${container.name} is not healthy. ${problem}\nIts log:\n${await logs(container)}`);
        await delay(50);
      }
    },
  };
}

function messageOfFailure(error: unknown): string {
  if (error instanceof FailedRunError) return error.message;
  throw error;
}
