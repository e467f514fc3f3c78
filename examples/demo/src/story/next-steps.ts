import { accessSync, constants } from "node:fs";
import { delimiter, join, relative } from "node:path";
import { repositoryPath } from "../repository-path.ts";
import type { DemoServers } from "../servers/demo-servers.ts";

export interface NextStepsOptions {
  readonly servers: DemoServers;
  /** The object that was applied, and its bucket. */
  readonly namespace: string;
  readonly name: string;
  readonly bucket: string;
  readonly logs: string;
  /** The value of PATH. */
  readonly path: string;
  /** Process id of the bucket function, to try killing it; undefined if it is scaled to zero. */
  readonly functionPid: number | undefined;
}

/** Commands to try next, using the tools that are installed. */
export function nextSteps(steps: NextStepsOptions): readonly string[] {
  return [
    "",
    "Try next, in another terminal, and watch what happens here:",
    "",
    `  export KUBECONFIG=${steps.servers.kubeconfig}`,
    ...[...objectSteps(steps), ...bucketSteps(steps), ...crash(steps)].flatMap(shown),
    "",
    `Logs are in ${steps.logs}. Ctrl-C here stops everything.`,
    "",
  ];
}

type NextStep = readonly [comment: string, command: string];
const shown = ([comment, command]: NextStep): readonly string[] => [`  # ${comment}`, `  ${command}`];

function objectSteps(steps: NextStepsOptions): readonly NextStep[] {
  const { servers, namespace, name, path } = steps;
  if (isOnPath("kubectl", path)) return kubectlSteps(steps);
  if (servers.sandboxUrl === undefined) return [];
  const url = `${servers.sandboxUrl}/apis/s3.drover.dev/v1alpha1/namespaces/${namespace}/buckets`;
  const patch = `-X PATCH -H 'content-type: application/merge-patch+json' -d '{"spec":{"tags":{"team":"north"}}}'`;
  const curl = 'curl -H "Authorization: Bearer $TOKEN"';
  return [
    ["the API server wants the token of its kubeconfig", `TOKEN=$(${tokenIn(servers.kubeconfig)})`],
    ["the objects", `${curl} ${url}`],
    ["change a tag", `${curl} ${patch} ${url}/${name}`],
    ["delete it, and its bucket with it", `${curl} -X DELETE ${url}/${name}`],
  ];
}

/** A command that prints the token of the sandbox's kubeconfig, which has one user. */
const tokenIn = (kubeconfig: string): string => `sed -n 's/^ *token: "\\(.*\\)"$/\\1/p' '${kubeconfig}'`;

function kubectlSteps({ servers: { context }, namespace, name }: NextStepsOptions): readonly NextStep[] {
  const kubectl = ["kubectl", ...(context === undefined ? [] : ["--context", context]), "-n", namespace].join(
    " ",
  );
  return [
    ["the objects", `${kubectl} get buckets`],
    ["change a tag", `${kubectl} patch bucket ${name} --type merge -p '{"spec":{"tags":{"team":"north"}}}'`],
    ["change anything", `${kubectl} edit bucket ${name}`],
    ["another one", `${kubectl} apply -f ${relativePath(repositoryPath("examples/retained-bucket.yaml"))}`],
    ["delete it, and its bucket with it", `${kubectl} delete bucket ${name}`],
  ];
}

function bucketSteps({ servers: { s3 }, bucket }: NextStepsOptions): readonly NextStep[] {
  if (!s3.isOwn) return [];
  return [
    ["the bucket's tags, as the S3 server has them", `curl '${s3.url}/${bucket}?tagging'`],
    [
      "delete the bucket behind Drover's back: it is back within half a minute",
      `curl -X DELETE ${s3.url}/${bucket}`,
    ],
  ];
}

const crash = ({ functionPid }: NextStepsOptions): readonly NextStep[] =>
  functionPid === undefined ? [] : [["crash the bucket function", `kill -9 ${functionPid}`]];

const relativePath = (path: string): string => {
  const near = relative(process.cwd(), path);
  return near.startsWith("..") ? path : near;
};

function isOnPath(command: string, path: string): boolean {
  return path.split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, command), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
