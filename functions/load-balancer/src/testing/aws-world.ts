import { randomInt } from "node:crypto";
import {
  DescribeListenersCommand,
  DescribeLoadBalancerAttributesCommand,
  DescribeLoadBalancersCommand,
  DescribeTagsCommand,
  DescribeTargetGroupsCommand,
  DescribeTargetHealthCommand,
  ElasticLoadBalancingV2Client,
} from "@aws-sdk/client-elastic-load-balancing-v2";
import { type S3Server, startS3 } from "@drover/local-servers";

/** moto, which also answers as EC2 and Elastic Load Balancing. It ends with this process. */
let server: Promise<S3Server> | undefined;

/** An account without load balancers, with a default VPC. */
export interface AwsWorld {
  readonly url: string;
  /** The ids of the VPC's subnets. */
  readonly subnets: readonly string[];
  readonly elb: ElasticLoadBalancingV2Client;
  /** All load balancers and target groups of the account, as the bare SDK reads them. */
  state(): Promise<Readonly<Record<string, unknown>>>;
  close(): Promise<void>;
}

/** Empties the account. The ids of its subnets are the same each time. */
export async function emptyAws(): Promise<AwsWorld> {
  const { url, region, accessKeyId, secretAccessKey } = await (server ??= startS3());
  await fetch(`${url}/moto-api/reset`, { method: "POST" });
  await fetch(`${url}/moto-api/seed?a=42`, { method: "POST" });
  const subnets = await subnetsOf(url);
  // Ids of what is created later differ, as they do in AWS.
  await fetch(`${url}/moto-api/seed?a=${randomInt(2 ** 32)}`, { method: "POST" });
  const credentials = { accessKeyId, secretAccessKey };
  const elb = new ElasticLoadBalancingV2Client({ endpoint: url, region, credentials, maxAttempts: 1 });
  return {
    url,
    subnets,
    elb,
    state: () => stateOf(elb),
    close() {
      elb.destroy();
      return Promise.resolve();
    },
  };
}

/** The subnets of the default VPC, which the first request makes. */
async function subnetsOf(url: string): Promise<readonly string[]> {
  const credential = "Credential=local/20260101/us-east-1/ec2/aws4_request";
  const answer = await fetch(url, {
    method: "POST",
    headers: { authorization: `AWS4-HMAC-SHA256 ${credential}, SignedHeaders=host, Signature=none` },
    body: new URLSearchParams({ Action: "DescribeSubnets", Version: "2016-11-15" }),
  });
  return [...(await answer.text()).matchAll(/<subnetId>(.+?)<\/subnetId>/g)].map(([, id = ""]) => id).sort();
}

async function stateOf(elb: ElasticLoadBalancingV2Client): Promise<Readonly<Record<string, unknown>>> {
  const { LoadBalancers = [] } = await elb.send(new DescribeLoadBalancersCommand({}));
  const { TargetGroups = [] } = await elb.send(new DescribeTargetGroupsCommand({}));
  // Their names have the uid of an object in them, so they are named for what they are.
  const names = new Map<string | undefined, string>();
  for (const { TargetGroupArn, TargetType, Protocol, Port } of TargetGroups) {
    const name = `${TargetType}-${Protocol}-${Port}`;
    const others = [...names.values()].filter((each) => each.startsWith(name)).length;
    names.set(TargetGroupArn, others === 0 ? name : `${name}, again`);
  }
  const balancers = LoadBalancers.map(async (each) => {
    const { LoadBalancerArn = "", LoadBalancerName = "" } = each;
    const { Listeners = [] } = await elb.send(new DescribeListenersCommand({ LoadBalancerArn }));
    const { Attributes = [] } = await elb.send(
      new DescribeLoadBalancerAttributesCommand({ LoadBalancerArn }),
    );
    return [
      LoadBalancerName,
      {
        scheme: each.Scheme,
        subnets: each.AvailabilityZones?.map(({ SubnetId }) => SubnetId).sort(),
        securityGroups: each.SecurityGroups,
        addresses: each.IpAddressType,
        tags: await tagsOf(elb, LoadBalancerArn),
        attributes: Object.fromEntries(Attributes.map(({ Key = "", Value = "" }) => [Key, Value] as const)),
        listeners: Object.fromEntries(
          Listeners.map(
            ({ Port, Protocol, DefaultActions }) =>
              [String(Port), `${Protocol} to ${names.get(DefaultActions?.[0]?.TargetGroupArn)}`] as const,
          ),
        ),
      },
    ] as const;
  });
  const groups = TargetGroups.map(async (each) => {
    const { TargetGroupArn = "" } = each;
    const { TargetHealthDescriptions = [] } = await elb.send(
      new DescribeTargetHealthCommand({ TargetGroupArn }),
    );
    return [
      names.get(TargetGroupArn) ?? "",
      {
        health: [
          each.HealthCheckProtocol,
          each.HealthCheckPort,
          each.HealthCheckPath ?? "",
          each.HealthCheckIntervalSeconds,
        ].join(" "),
        tags: await tagsOf(elb, TargetGroupArn),
        targets: TargetHealthDescriptions.map(({ Target }) => `${Target?.Id}:${Target?.Port}`).sort(),
      },
    ] as const;
  });
  return {
    balancers: Object.fromEntries(await Promise.all(balancers)),
    groups: Object.fromEntries(await Promise.all(groups)),
  };
}

async function tagsOf(elb: ElasticLoadBalancingV2Client, arn: string): Promise<object> {
  const { TagDescriptions = [] } = await elb.send(new DescribeTagsCommand({ ResourceArns: [arn] }));
  return Object.fromEntries((TagDescriptions[0]?.Tags ?? []).map(({ Key = "", Value }) => [Key, Value]));
}
