import {
  AddTagsCommand,
  CreateLoadBalancerCommand,
  DeleteLoadBalancerCommand,
  DescribeListenersCommand,
  DescribeLoadBalancersCommand,
  ElasticLoadBalancingV2Client,
  type LoadBalancer,
  RemoveTagsCommand,
} from "@aws-sdk/client-elastic-load-balancing-v2";
import { accountOf, awsClients, AwsRefusal, readCredentials, tagLimits, tagList } from "drover/aws";
import { serverTime, TerminalError } from "drover";
import {
  type Creation,
  type ExternalPort,
  type Observation,
  type ResourceWords,
  type Tags,
} from "drover/external";
import type { ElbConfig } from "../config.ts";
import {
  type LoadBalancerContext,
  type LoadBalancerDetails,
  type LoadBalancerSpec,
  rolesVariable,
} from "../load-balancer.ts";
import { loadBalancerNameOf, loadBalancerNameProblem } from "../load-balancer-name.ts";
import { type BalancerCall, readTags } from "./balancer-call.ts";
import { errorAfter, refusedCreation, responseOrRefusal } from "./elb-errors.ts";
import type { Balanced, PresentLoadBalancer } from "./settings-context.ts";
import { settingsOf } from "./settings/settings-of.ts";

export type LoadBalancerPort = ExternalPort<PresentLoadBalancer, LoadBalancerDetails>;

/** Opens the ports of runs. */
export interface LoadBalancerPorts {
  /**
   * @param balanced undefined for an object that is being deleted.
   * @throws RetryAfterError if the credentials that the spec names cannot be used.
   */
  open(context: LoadBalancerContext, balanced: Balanced | undefined): Promise<LoadBalancerPort>;
  /** Closes all connections. */
  close(): void;
}

/** Load balancers of AWS. Opens connections when they are needed; the caller must close it. */
export function elbPorts(config: ElbConfig): LoadBalancerPorts {
  const { elbEndpoint: endpoint, elbStsEndpoint: stsEndpoint, elbTimeout: timeout } = config;
  const clients = awsClients(
    { endpoint, stsEndpoint, timeout },
    (options) => new ElasticLoadBalancingV2Client(options),
  );
  return {
    async open(context, balanced) {
      const roles = { allowed: config.elbRoles, variable: rolesVariable };
      const credentials = await readCredentials(context, roles);
      const region = context.status.region ?? context.spec.region ?? config.elbRegion;
      const client = clients.get(credentials, region);
      const call = { client, http: { abortSignal: context.signal } };
      return elbPort({ context, balanced, call, region, account: accountOf(credentials) });
    },
    close: () => clients.close(),
  };
}

const words: ResourceWords = {
  noun: "load balancer",
  kind: "LoadBalancer",
  nameField: "spec.loadBalancerName",
  listPermission: "elasticloadbalancing:DescribeLoadBalancers",
};

interface PortOptions {
  readonly context: LoadBalancerContext;
  readonly balanced: Balanced | undefined;
  readonly call: BalancerCall;
  readonly region: string;
  readonly account: string;
}

function elbPort({ context, balanced, call, region, account }: PortOptions): LoadBalancerPort {
  const { spec, status, metadata } = context;
  const name = loadBalancerNameOf(spec, metadata);
  return {
    words,
    apiVersion: "elb.drover.dev/v1alpha1",
    name,
    isNameDefault: spec.loadBalancerName === undefined,
    recordedName: status.loadBalancerName,
    maxTags: tagLimits.tags,
    account,
    // Names are those of the account: a load balancer of another one is never found.
    isAccountChecked: true,
    nameProblem: loadBalancerNameProblem,
    observe: (asked) => observe(call, asked, { isDeleted: balanced === undefined }),
    async listing(asked) {
      const found = await describe(call, asked);
      if (found === undefined || found instanceof AwsRefusal) return { state: "not-listed" };
      return { state: "listed", createdAt: found.CreatedTime ?? new Date(0) };
    },
    isUnused: ({ arn }) => hasNoListener(call, arn),
    create: (tags) => create(call, name, { tags, spec }),
    rejectImmutable({ found }) {
      rejectChange("region", { asked: spec.region ?? region, found: region });
      rejectChange("scheme", { asked: spec.scheme, found: found.Scheme });
      return Promise.resolve();
    },
    retag: (seen, change) => retag(call, seen, change),
    settings: (seen) =>
      settingsOf({ call, spec, owner: metadata.uid, written: status.written ?? {}, balanced, seen }),
    pending: ({ found: { State } }) =>
      State?.Code === "provisioning"
        ? { reason: "Provisioning", message: `Load balancer ${name} is being set up by AWS.` }
        : undefined,
    outputs: ({ arn, found: { DNSName: dnsName = "", CanonicalHostedZoneId: hostedZoneId = "" } }) => ({
      loadBalancerName: name,
      region,
      arn,
      dnsName,
      hostedZoneId,
    }),
    details: ({ arn, found: { DNSName: dnsName = "" } }) => ({
      loadBalancerName: name,
      arn,
      dnsName,
      region,
    }),
    // Nothing is in a load balancer, and AWS refuses the deletion of one that is protected.
    rejectDeletion: () => Promise.resolve(),
    delete: (seen) => remove(call, seen),
  };
}

const notFound = "LoadBalancerNotFoundException";

/** Undefined if it does not exist: then `AwsRefusal` has the time of the server. */
async function describe(
  { client, http }: BalancerCall,
  name: string,
): Promise<LoadBalancer | AwsRefusal | undefined> {
  const command = new DescribeLoadBalancersCommand({ Names: [name] });
  const answer = await responseOrRefusal(client.send(command, http));
  if (!(answer instanceof AwsRefusal)) return answer.LoadBalancers?.[0];
  if (answer.code === notFound) return answer;
  throw errorAfter(answer, `look at load balancer ${name}`);
}

/**
 * All types of load balancers share their names. So if another type has the name, an object that is being deleted has no
 * load balancer, and its deletion goes on.
 */
async function observe(
  call: BalancerCall,
  name: string,
  { isDeleted }: { readonly isDeleted: boolean },
): Promise<Observation<PresentLoadBalancer>> {
  const found = await describe(call, name);
  if (found === undefined || found instanceof AwsRefusal) {
    return { state: "absent", at: new Date(serverTime(found?.headers["date"])) };
  }
  if (found.Type !== "network") {
    if (isDeleted) return { state: "absent", at: new Date() };
    throw new TerminalError(
      `${name} is a load balancer of the type ${found.Type ?? "unknown"}. Choose another spec.loadBalancerName.`,
      { reason: "WrongType" },
    );
  }
  const arn = found.LoadBalancerArn ?? "";
  const tags = await readTags(call, [arn]);
  if (tags instanceof AwsRefusal) throw errorAfter(tags, `read the tags of load balancer ${name}`);
  return { state: "present", name, arn, found, tags: tags.get(arn)?.tags ?? new Map() };
}

async function hasNoListener({ client, http }: BalancerCall, arn: string): Promise<boolean> {
  const command = new DescribeListenersCommand({ LoadBalancerArn: arn, PageSize: 1 });
  const answer = await responseOrRefusal(client.send(command, http));
  if (answer instanceof AwsRefusal) throw errorAfter(answer, "read the listeners of the load balancer");
  return (answer.Listeners ?? []).length === 0;
}

/** AWS also answers "created" for a load balancer that exists with the same configuration: the tags show whose it is. */
async function create(
  { client, http }: BalancerCall,
  name: string,
  { tags, spec }: { readonly tags: Tags; readonly spec: LoadBalancerSpec },
): Promise<Creation> {
  const command = new CreateLoadBalancerCommand({
    Name: name,
    Type: "network",
    Scheme: spec.scheme,
    Subnets: [...spec.subnets],
    Tags: tagList(tags),
    ...(spec.securityGroups && { SecurityGroups: [...spec.securityGroups] }),
    ...(spec.ipAddressType && { IpAddressType: spec.ipAddressType }),
  });
  const answer = await responseOrRefusal(client.send(command, http));
  if (!(answer instanceof AwsRefusal)) return { outcome: "created" };
  if (answer.code === "DuplicateLoadBalancerNameException") return { outcome: "exists" };
  return refusedCreation(answer, `create load balancer ${name}`);
}

async function remove(
  { client, http }: BalancerCall,
  { name, arn }: PresentLoadBalancer,
): Promise<"deleted"> {
  const command = new DeleteLoadBalancerCommand({ LoadBalancerArn: arn });
  const answer = await responseOrRefusal(client.send(command, http));
  if (!(answer instanceof AwsRefusal) || answer.code === notFound) return "deleted";
  throw errorAfter(answer, `delete load balancer ${name}`);
}

/**
 * Removes tags before it adds some: a run may die in between, and the record of Drover's own keys, which is a tag, must
 * not lack a key that is still there.
 */
async function retag(
  call: BalancerCall,
  { name, arn }: PresentLoadBalancer,
  change: (current: Tags) => Tags,
): Promise<void> {
  const { client, http } = call;
  const doing = `tag load balancer ${name}`;
  const found = await readTags(call, [arn]);
  if (found instanceof AwsRefusal) throw errorAfter(found, doing);
  const current: Tags = found.get(arn)?.tags ?? new Map();
  const wanted = change(current);
  const gone = [...current.keys()].filter((key) => !wanted.has(key));
  const changed = new Map([...wanted].filter(([key, value]) => current.get(key) !== value));
  const commands = [
    ...(gone.length > 0 ? [new RemoveTagsCommand({ ResourceArns: [arn], TagKeys: gone })] : []),
    ...(changed.size > 0 ? [new AddTagsCommand({ ResourceArns: [arn], Tags: tagList(changed) })] : []),
  ];
  for (const command of commands) {
    const answer = await responseOrRefusal<object>(
      command instanceof RemoveTagsCommand ? client.send(command, http) : client.send(command, http),
    );
    if (answer instanceof AwsRefusal) throw errorAfter(answer, doing);
  }
}

/** @throws TerminalError if the spec asks for another value than the one that the load balancer was created with. */
function rejectChange(
  field: "region" | "scheme",
  { asked, found }: { readonly asked: string; readonly found: string | undefined },
): void {
  if (asked === found) return;
  throw new TerminalError(
    `The load balancer has the ${field} ${found ?? "unknown"}, which cannot be changed. Set spec.${field} to it, or make another ` +
      "LoadBalancer object.",
    { reason: "Immutable" },
  );
}
