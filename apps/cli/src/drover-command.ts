import { Command } from "commander";
import { deployCommand } from "./deploy/deploy-command.ts";
import { devCommand } from "./dev/dev-command.ts";
import { doctorCommand } from "./doctor/doctor-command.ts";
import { faultsCommand } from "./faults/faults-command.ts";
import { generateCommand } from "./generate/generate-command.ts";
import { initCommand } from "./init/init-command.ts";
import { migrateCommand } from "./migrate/migrate-command.ts";
import { historyCommand } from "./operate/history-command.ts";
import { listCommand } from "./operate/list-command.ts";
import { pauseCommand, resumeCommand } from "./operate/pause-command.ts";
import { retryCommand } from "./operate/retry-command.ts";
import { planCommand } from "./plan/plan-command.ts";
import { removeCommand } from "./remove/remove-command.ts";
import { uninstallCommand } from "./remove/uninstall-command.ts";
import { statusCommand } from "./status/status-command.ts";
import { testCommand } from "./test/test-command.ts";
import { version } from "./package/version.ts";
import { whyCommand } from "./why/why-command.ts";

/** The `drover` command. For an unknown option or command, the error suggests the most similar one. */
export function droverCommand(): Command {
  const program = new Command("drover")
    .description("Serverless controllers for Kubernetes")
    .version(version, "-v, --version", "print the version of Drover");
  const commands = [
    ...[initCommand, devCommand, testCommand, faultsCommand, generateCommand, planCommand, deployCommand],
    ...[doctorCommand, migrateCommand, statusCommand, whyCommand, listCommand, historyCommand],
    ...[retryCommand, pauseCommand, resumeCommand, removeCommand, uninstallCommand],
  ];
  for (const command of commands) program.addCommand(command());
  return program.showHelpAfterError("(--help lists commands and options)");
}
