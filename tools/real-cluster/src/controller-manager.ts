import { join } from "node:path";
import type { TiedProcess } from "@drover/local-servers";
import { type ControlPlane, servingOn, startHealthy } from "./control-plane-client.ts";
import type { Pki } from "./pki.ts";

/** Which controllers of kube-controller-manager run can be chosen anew, while the API server stays. */
export interface ChosenControllers {
  /**
   * Has these controllers run in place of those that do: each is a name, `*` for all that run by default, or `-name` for
   * one of them left out. The API server stays. Resolves when the manager is healthy, which is before its controllers
   * have read what there is: wait for what you expect of them.
   */
  readonly runControllers: (controllers: readonly string[]) => Promise<void>;
  /** Kills kube-controller-manager, until `runControllers`. */
  readonly stopControllers: () => Promise<void>;
}

export interface ControllerManager extends ChosenControllers {
  /** The id of its process, while it runs. */
  pid(): number | undefined;
}

/** kube-controller-manager, which does not run yet. */
export function controllerManager(
  plane: ControlPlane,
  more: readonly string[],
  signal?: AbortSignal,
): ControllerManager {
  let running: TiedProcess | undefined;
  const stopControllers = async () => {
    running?.kill("SIGKILL");
    await running?.exited;
    running = undefined;
  };
  return {
    pid: () => running?.pid,
    stopControllers,
    async runControllers(controllers) {
      await stopControllers();
      const chosen = [...flags(plane.pki), `--controllers=${controllers.join(",")}`, ...more];
      running = await startHealthy(
        plane,
        ["kube-controller-manager", "controller-manager"],
        (port) => [...servingOn(plane, port), ...chosen],
        signal,
      );
    },
  };
}

function flags({ folder }: Pki): readonly string[] {
  const file = (name: string) => join(folder, name);
  return [
    "--leader-elect=false",
    "--use-service-account-credentials=true",
    `--service-account-private-key-file=${file("sa.key")}`,
    `--root-ca-file=${file("ca.crt")}`,
    `--cluster-signing-cert-file=${file("ca.crt")}`,
    `--cluster-signing-key-file=${file("ca.key")}`,
  ];
}
