import {
  CreateTargetGroupCommand,
  DeleteTargetGroupCommand,
  DescribeTargetGroupsCommand,
  ModifyTargetGroupCommand,
  type TargetGroup,
} from "@aws-sdk/client-elastic-load-balancing-v2";
import { AwsRefusal, tagList } from "drover/aws";
import { idsIn, reservedPrefix, type Setting, SettingRefusal, type SettingValue } from "drover/external";
import { healthCheckSpec } from "../../load-balancer.ts";
import { targetGroupName } from "../../load-balancer-name.ts";
import type { ServicePort } from "../../service.ts";
import { pages, readTags } from "../balancer-call.ts";
import { answered, errorAfter, refusalOf } from "../elb-errors.ts";
import type { SettingsContext } from "../settings-context.ts";

const name = "targetGroups";

/** The fields of a target group that are compared. */
const compared = [
  ...([
    "Protocol",
    "Port",
    "TargetType",
    "HealthCheckProtocol",
    "HealthCheckPort",
    "HealthCheckPath",
  ] as const),
  ...(["HealthCheckIntervalSeconds", "HealthCheckTimeoutSeconds"] as const),
  ...(["HealthyThresholdCount", "UnhealthyThresholdCount"] as const),
];
type Compared = Pick<TargetGroup, (typeof compared)[number]>;

/** The target groups of one object: those of the spec and those of the record. */
export class TargetGroups {
  readonly #context: SettingsContext;
  /** The ports of the load balancer, by the id of their target group. */
  readonly ports: ReadonlyMap<string, ServicePort>;
  /** The ARNs of those that were seen or created. */
  readonly arns = new Map<string, string>();

  constructor(context: SettingsContext) {
    this.#context = context;
    this.ports = new Map(
      (context.balanced?.service.ports ?? []).map((port) => [this.idOf(port), port] as const),
    );
  }

  /** The id has the fields that AWS cannot change: with another value, there is another target group. */
  idOf = ({ protocol, port }: ServicePort): string => `${this.#context.spec.targetType}-${protocol}-${port}`;

  nameOf = (id: string): string => targetGroupName(this.#context.owner, id);

  /** Those that exist, by id. None of another owner: then there is a refusal. */
  async read(): Promise<ReadonlyMap<string, TargetGroup> | SettingRefusal> {
    const ids = new Set([...this.ports.keys(), ...idsIn(name, Object.keys(this.#context.written))]);
    const groups = await this.#describe([...ids].map(this.nameOf));
    if (groups instanceof SettingRefusal) return groups;
    const found = new Map(
      [...ids].flatMap((id) => {
        const group = groups.get(this.nameOf(id));
        return group === undefined ? [] : [[id, group] as const];
      }),
    );
    const refusal = await this.#foreign([...found.values()]);
    if (refusal !== undefined) return refusal;
    this.arns.clear();
    for (const [id, { TargetGroupArn }] of found) this.arns.set(id, TargetGroupArn ?? "");
    return found;
  }

  /** By name: those that the load balancer uses in one request, and each of the others in one of its own. */
  async #describe(names: readonly string[]): Promise<ReadonlyMap<string, TargetGroup> | SettingRefusal> {
    const { seen } = this.#context;
    const found = new Map<string, TargetGroup>();
    const add = async (which: {
      readonly LoadBalancerArn?: string;
      readonly Names?: string[];
    }): Promise<SettingRefusal | undefined> => {
      const { client, http } = this.#context.call;
      const sent = pages((Marker) =>
        client.send(new DescribeTargetGroupsCommand({ ...which, Marker }), http),
      );
      const absent = "TargetGroupNotFoundException";
      const answer = await answered(sent, { doing: "read", name, absent });
      if (answer instanceof SettingRefusal) return answer;
      for (const group of (answer ?? []).flatMap(({ TargetGroups: groups = [] }) => groups)) {
        found.set(group.TargetGroupName ?? "", group);
      }
      return undefined;
    };
    const used = seen === undefined ? undefined : await add({ LoadBalancerArn: seen.arn });
    if (used !== undefined) return used;
    for (const each of names.filter((one) => !found.has(one))) {
      const refusal = await add({ Names: [each] });
      if (refusal !== undefined) return refusal;
    }
    return found;
  }

  async #foreign(groups: readonly TargetGroup[]): Promise<SettingRefusal | undefined> {
    const arns = groups.map(({ TargetGroupArn = "" }) => TargetGroupArn);
    const tags = await readTags(this.#context.call, arns);
    if (tags instanceof AwsRefusal) {
      if (tags.code !== "AccessDenied") throw errorAfter(tags, "read the tags of target groups");
      return new SettingRefusal(
        "AccessDenied",
        `The tags of target groups cannot be read (${tags.message}). Allow it for the credentials in use.`,
      );
    }
    const foreign = groups.find(
      ({ TargetGroupArn = "" }) => tags.get(TargetGroupArn)?.tags.get(ownerKey) !== this.#context.owner,
    );
    if (foreign === undefined) return undefined;
    return new SettingRefusal(
      "NotOwned",
      `The target group ${foreign.TargetGroupName ?? ""} was not created for this object. Delete it.`,
    );
  }
}

const ownerKey = `${reservedPrefix}owner-uid`;

/** The target groups: one for each port, which no other object uses. */
export function targetGroups(context: SettingsContext, groups: TargetGroups): Setting {
  const { call, spec, owner, seen } = context;
  const { client, http } = call;
  const health = healthCheckOf(context);
  const fieldsOf = ({ protocol, port }: ServicePort): Compared => ({
    Protocol: protocol,
    Port: port,
    TargetType: spec.targetType,
    ...health,
  });
  const create = (id: string, port: ServicePort): Promise<unknown> =>
    client
      .send(
        new CreateTargetGroupCommand({
          Name: groups.nameOf(id),
          VpcId: seen?.found.VpcId,
          Tags: tagList(new Map([...Object.entries(spec.tags), [ownerKey, owner]])),
          ...fieldsOf(port),
        }),
        http,
      )
      .then(({ TargetGroups: [made] = [] }) => groups.arns.set(id, made?.TargetGroupArn ?? ""));
  const modify = (TargetGroupArn: string): Promise<unknown> =>
    client.send(new ModifyTargetGroupCommand({ TargetGroupArn, ...health }), http);
  return {
    name,
    areParts: true,
    wanted: new Map([...groups.ports].map(([id, port]) => [id, valueOf(fieldsOf(port))])),
    async read() {
      const found = await groups.read();
      if (found instanceof SettingRefusal) return found;
      return new Map([...found].map(([id, group]) => [id, valueOf(group)]));
    },
    async write({ set, removed }) {
      for (const id of set.keys()) {
        const port = groups.ports.get(id);
        const arn = groups.arns.get(id);
        if (port === undefined) continue;
        const refusal = await refusalOf(arn === undefined ? create(id, port) : modify(arn), name);
        if (refusal !== undefined) return refusal;
      }
      for (const id of removed) {
        const TargetGroupArn = groups.arns.get(id);
        if (TargetGroupArn === undefined) continue;
        const sent = client.send(new DeleteTargetGroupCommand({ TargetGroupArn }), http);
        const inUse = "ResourceInUseException";
        const answer = await answered(sent, { doing: "write", name, absent: inUse });
        if (answer instanceof SettingRefusal) return answer;
        if (answer === undefined) {
          return new SettingRefusal(
            "InUse",
            `The target group ${groups.nameOf(id)} is still used by a listener.`,
          );
        }
      }
      return undefined;
    },
  };
}

/** All fields, also those that the spec leaves out: a target group is the object's alone. */
function healthCheckOf({
  spec,
  balanced,
}: SettingsContext): Omit<Compared, "Protocol" | "Port" | "TargetType"> {
  const node = spec.targetType === "instance" ? balanced?.service.healthCheckNodePort : undefined;
  if (spec.healthCheck === undefined && node !== undefined) {
    return { ...localHealthCheck, HealthCheckPort: String(node) };
  }
  const { protocol, port, path, ...times } = spec.healthCheck ?? healthCheckSpec.parse({});
  return {
    HealthCheckProtocol: protocol,
    HealthCheckPort: port === undefined ? "traffic-port" : String(port),
    HealthCheckPath: path ?? (protocol === "TCP" ? undefined : "/"),
    HealthCheckIntervalSeconds: times.intervalSeconds,
    HealthCheckTimeoutSeconds: times.timeoutSeconds,
    HealthyThresholdCount: times.healthyThreshold,
    UnhealthyThresholdCount: times.unhealthyThreshold,
  };
}

/** With externalTrafficPolicy Local, kube-proxy answers there whether the node has a Pod of the Service. */
const localHealthCheck = {
  HealthCheckProtocol: "HTTP",
  HealthCheckPath: "/healthz",
  HealthCheckIntervalSeconds: 10,
  HealthCheckTimeoutSeconds: 6,
  HealthyThresholdCount: 2,
  UnhealthyThresholdCount: 2,
} as const;

/** The fields that are compared, without those that are not there. */
const valueOf = (group: Compared): SettingValue =>
  Object.fromEntries(
    compared.flatMap((field) => {
      const value = group[field];
      return value === undefined ? [] : [[field, value] as const];
    }),
  );
