import type { Controller, FunctionIdentity, Resource } from "@drover/controller";
import type { FunctionSettings } from "../process/function-settings.ts";
import type { Process } from "../process/run-process.ts";

/** A function: a controller and the process that it runs in. */
export interface FunctionDefinition<Settings extends FunctionSettings, R extends Resource> {
  /** Names the process in logs. */
  readonly name: string;
  /** Reads the settings: `readSettings(functionSettings.extend({ ... }), process.env)` in the function's config.ts. */
  readonly settings: () => Settings;
  /**
   * Called once. `close` of the result releases what this has opened.
   *
   * @param identified resolves when the ReconcileFunction that the process runs for is known, which may not be applied
   * yet; resolves to undefined if the process has no ReconcileFunction. It rejects when the process is asked to stop
   * before that.
   */
  readonly controller: (
    settings: Settings,
    process: Process<Settings>,
    identified: () => Promise<FunctionIdentity | undefined>,
  ) => OpenedController<R> | Promise<OpenedController<R>>;
}

export interface OpenedController<R extends Resource> {
  readonly controller: Controller<R>;
  /** Releases the resources of the controller. */
  close?(): void | Promise<void>;
  /** True if the process answers requests also while Redis is away: `/readyz` then reports it, and stays 200. */
  readonly answersWithoutRedis?: boolean;
}
