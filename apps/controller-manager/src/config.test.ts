import { expect, it } from "vitest";
import { chooseControllers, InvalidControllersError } from "./choose-controllers.ts";
import { controllerNames, managerConfig } from "./config.ts";
import { settingsOf } from "./own-settings.ts";

const known = ["cronjob", "deployment", "job"];

// The rules of kube-controller-manager's --controllers.
it.each([
  ["*", known],
  ["*,-job", ["cronjob", "deployment"]],
  ["-job,*", ["cronjob", "deployment"]],
  ["job", ["job"]],
  ["job,cronjob", ["cronjob", "job"]],
  ["job,job", ["job"]],
  ["*,job", known],
  ["job,-job", ["job"]],
  ["*,-job,job", ["cronjob", "deployment"]],
])("%s chooses %j", (list, chosen) => {
  expect(chooseControllers(list.split(","), known)).toEqual(chosen);
});

it.each([
  ["jobs", /"jobs" is not a controller. Did you mean job\? Known are: cronjob, deployment, job\./],
  ["*,-jbo", /"-jbo" is not a controller. Did you mean job\? Known are/],
  ["*,--job", /"--job" is not a controller/],
  ["-*", /"-\*" is not a controller/],
  ["*, -job", /" -job" is not a controller/],
  ["constructor,statefulset", /"constructor" .* "statefulset" is not a controller. Known are: cronjob/],
  ["", /"" is not a controller/],
  ["-job", /--controllers=-job leaves no controller to run.* Known are: cronjob, deployment, job\./],
  ["*,-cronjob,-deployment,-job", /leaves no controller to run/],
])("%j is refused", (list, message) => {
  const choosing = () => chooseControllers(list.split(","), known);
  expect(choosing).toThrow(InvalidControllersError);
  expect(choosing).toThrow(message);
});

const env = { DROVER_REDIS_URL: "redis://127.0.0.1:1" };

it("all controllers run without the flag, which may be repeated", () => {
  expect(managerConfig([], env).controllers).toEqual(controllerNames);
  const args = ["--controllers=*", "--controllers=-job,-cronjob"];
  expect(managerConfig(args, env).controllers).toEqual([
    "daemonset",
    "deployment",
    "endpointslice",
    "replicaset",
  ]);
});

it("another argument is refused", () => {
  for (const args of [["--controler=job"], ["job"], ["--controllers"]])
    expect(() => managerConfig(args, env)).toThrow(
      /The only flag is --controllers, such as --controllers=\*,-job\./,
    );
});

it("a function has its own settings, and those of the process where it has none", () => {
  const all = managerConfig([], {
    ...env,
    DROVER_CONCURRENCY: "16",
    DROVER_JOB_CONCURRENCY: "3",
    DROVER_JOB_RETRY_FIRST: "2s",
    DROVER_FUNCTIONS_IN: "workloads",
  });
  expect(settingsOf("job", all)).toMatchObject({
    concurrency: 3,
    retryFirst: 2_000,
    function: { namespace: "workloads", name: "job" },
  });
  const other = settingsOf("cronjob", all);
  expect(other).toMatchObject({ concurrency: 16, function: { namespace: "workloads", name: "cronjob" } });
  expect(other.retryFirst).toBeUndefined();
  expect(settingsOf("job", managerConfig([], env)).function).toBeUndefined();
});

it("an own setting is checked, and so is its name", () => {
  expect(() => managerConfig([], { ...env, DROVER_JOB_CONCURRENCY: "0" })).toThrow(
    'DROVER_JOB_CONCURRENCY="0" cannot be used: give a whole number from 1 to 10000',
  );
  expect(() => managerConfig([], { ...env, DROVER_JBO_CONCURRENCY: "1" })).toThrow(
    "Did you mean DROVER_JOB_CONCURRENCY?",
  );
  expect(() => managerConfig([], { ...env, DROVER_FUNCTION: "web/job" })).toThrow("DROVER_FUNCTION is not");
});
