import { accessSync, constants } from "node:fs";
import { delimiter, join, relative } from "node:path";
import { inRepository } from "../repository.ts";
import type { Servers } from "./servers.ts";

export interface NextSteps {
  readonly servers: Servers;
  /** The object that was applied, and its bucket. */
  readonly namespace: string;
  readonly name: string;
  readonly bucket: string;
  readonly logs: string;
  /** The value of PATH. */
  readonly path: string;
  /** Of the bucket function, which survives being killed. */
  readonly functionPid: number;
}

/** What a person may try now, with the tools that are there. */
export function nextSteps(steps: NextSteps): readonly string[] {
  const { servers, logs } = steps;
  return [
    "",
    "Try next, and watch what happens here:",
    "",
    ...table([
      ...objectSteps(steps),
      ...bucketSteps(steps),
      [`kill -9 ${steps.functionPid}`, "a crash of the bucket function"],
    ]),
    "",
    `The cluster:  export KUBECONFIG=${servers.kubeconfig}`,
    `The logs:     ${logs}`,
    "Ctrl-C stops everything.",
    "",
  ];
}

type Step = readonly [command: string, comment: string];

function objectSteps(steps: NextSteps): readonly Step[] {
  const { servers, namespace, name, path } = steps;
  if (isOnPath("kubectl", path)) return kubectlSteps(steps);
  if (servers.sandboxUrl === undefined) return [];
  const url = `${servers.sandboxUrl}/apis/s3.drover.dev/v1alpha1/namespaces/${namespace}/buckets`;
  const patch = `-X PATCH -H 'content-type: application/merge-patch+json' -d '{"spec":{"tags":{"team":"north"}}}'`;
  return [
    [`curl ${url}`, "the objects"],
    [`curl ${patch} ${url}/${name}`, "change a tag"],
    [`curl -X DELETE ${url}/${name}`, "delete it, and its bucket with it"],
  ];
}

function kubectlSteps({ servers, namespace, name }: NextSteps): readonly Step[] {
  const kubectl = `kubectl --kubeconfig ${relativePath(servers.kubeconfig)}${servers.context === undefined ? "" : ` --context ${servers.context}`} -n ${namespace}`;
  return [
    [`${kubectl} get buckets`, "the objects"],
    [`${kubectl} patch bucket ${name} --type merge -p '{"spec":{"tags":{"team":"north"}}}'`, "change a tag"],
    [`${kubectl} edit bucket ${name}`, "or anything"],
    [`${kubectl} apply -f ${relativePath(inRepository("examples/retained-bucket.yaml"))}`, "another one"],
    [`${kubectl} delete bucket ${name}`, "delete it, and its bucket with it"],
  ];
}

function bucketSteps({ servers: { s3 }, bucket }: NextSteps): readonly Step[] {
  if (!s3.own) return [];
  return [
    [`curl '${s3.url}/${bucket}?tagging'`, "the bucket's tags, as the S3 server has them"],
    [`curl -X DELETE ${s3.url}/${bucket}`, "delete the bucket behind Drover's back: it comes back"],
  ];
}

const relativePath = (path: string): string => {
  const near = relative(process.cwd(), path);
  return near.startsWith("..") ? path : near;
};

/** Comments beside what is short enough, above what is not. */
function table(steps: readonly Step[]): readonly string[] {
  return steps.flatMap(([command, comment]) => [`  # ${comment}`, `  ${command}`]);
}

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
