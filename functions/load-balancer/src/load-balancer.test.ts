import {
  AddTagsCommand,
  CreateListenerCommand,
  CreateLoadBalancerCommand,
  CreateTargetGroupCommand,
  DeleteListenerCommand,
  DeleteLoadBalancerCommand,
  DeregisterTargetsCommand,
  DescribeListenersCommand,
  DescribeLoadBalancersCommand,
  DescribeTargetGroupsCommand,
  ModifyLoadBalancerAttributesCommand,
} from "@aws-sdk/client-elastic-load-balancing-v2";
import { describe, expect, test } from "vitest";
import { targetGroupName } from "./load-balancer-name.ts";
import { openBalancerScene, type BalancerScene } from "./testing/balancer-scene.ts";
import { loadBalancer, node, service } from "./testing/manifests.ts";

const http = { name: "http", port: 80, targetPort: 8080, nodePort: 30080, protocol: "TCP" };
const dns = { name: "dns", port: 53, targetPort: 53, nodePort: 30053, protocol: "UDP" };

/** The only load balancer of the account. */
async function only({ aws }: BalancerScene) {
  const { LoadBalancers: [found] = [] } = await aws.elb.send(new DescribeLoadBalancersCommand({}));
  const { Listeners = [] } = await aws.elb.send(
    new DescribeListenersCommand({ LoadBalancerArn: found?.LoadBalancerArn ?? "" }),
  );
  return { arn: found?.LoadBalancerArn ?? "", dnsName: found?.DNSName, listeners: Listeners };
}

const balancerOf = async ({ aws }: BalancerScene, name = "default-web") =>
  ((await aws.state())["balancers"] as Record<string, Record<string, unknown>>)[name];
const groupsOf = async ({ aws }: BalancerScene) =>
  (await aws.state())["groups"] as Record<string, { targets: string[]; health: string; tags: object }>;

describe("a new object", () => {
  test("gets a load balancer with a target group and targets, and its Service the address", async () => {
    await using scene = await openBalancerScene();
    await scene.balance({ tags: { team: "a" }, crossZone: true });
    const { dnsName, arn } = await only(scene);
    expect(await scene.aws.state()).toEqual({
      balancers: {
        "default-web": {
          scheme: "internal",
          subnets: scene.subnets,
          securityGroups: [],
          addresses: "ipv4",
          tags: {
            team: "a",
            "drover.dev/owner": "default/web",
            "drover.dev/owner-uid": expect.any(String) as string,
            "drover.dev/managed-tags": expect.any(String) as string,
          },
          attributes: {
            "access_logs.s3.bucket": "",
            "access_logs.s3.prefix": "",
            "deletion_protection.enabled": "false",
            "load_balancing.cross_zone.enabled": "true",
          },
          listeners: { "80": "TCP to instance-TCP-80" },
        },
      },
      groups: {
        "instance-TCP-80": {
          health: "TCP traffic-port  30",
          tags: { team: "a", "drover.dev/owner-uid": expect.any(String) as string },
          targets: ["i-0a:30080", "i-0b:30080"],
        },
      },
    });
    expect(await scene.address()).toEqual({ ingress: [{ hostname: dnsName }] });
    expect(await scene.status()).toMatchObject({ arn, dnsName, loadBalancerName: "default-web" });
    expect((await scene.condition("Ready"))?.status).toBe("True");
  });

  test("is then only read, in a fixed number of requests", async () => {
    await using scene = await openBalancerScene();
    await scene.balance({ crossZone: true });
    scene.front.forget();
    await scene.cluster.advance("5m");
    expect(scene.front.actions).toEqual([
      "DescribeLoadBalancers",
      "DescribeTags",
      "DescribeLoadBalancerAttributes",
      "DescribeTargetGroups",
      "DescribeTags",
      "DescribeTargetHealth",
      "DescribeListeners",
    ]);
  });

  test("is not Ready as long as AWS is setting it up", async () => {
    await using scene = await openBalancerScene();
    scene.front.faults.set("DescribeLoadBalancers", (answer) =>
      answer.replace("<Code>active</Code>", "<Code>provisioning</Code>"),
    );
    await scene.cluster.apply(loadBalancer({ subnets: scene.subnets }));
    await scene.cluster.advance("1s");
    expect(await scene.condition("Ready")).toMatchObject({ status: "Unknown", reason: "Provisioning" });
    scene.front.faults.clear();
    await scene.cluster.advance("5s");
    expect((await scene.condition("Ready"))?.status).toBe("True");
  });

  test("has the name of its namespace and Service, shortened if AWS would refuse it", async () => {
    await using scene = await openBalancerScene();
    const name = "a-service-with-quite-a-long-name";
    await scene.apply(
      { ...service(), metadata: { name } },
      { ...loadBalancer({ subnets: scene.subnets }), metadata: { name } },
    );
    const [made = ""] = Object.keys((await scene.aws.state())["balancers"] as object);
    expect(made).toMatch(/^default-a-service-wit-[0-9a-f]{10}$/);
  });
});

describe("the Service", () => {
  test.each([
    ["does not exist", undefined, "ServiceMissing"],
    ["has another class", service([http], { loadBalancerClass: "other.example.com/nlb" }), "ServiceNotForUs"],
    [
      "is of another type",
      service([http], { type: "NodePort", loadBalancerClass: undefined }),
      "ServiceNotForUs",
    ],
    ["asks for SCTP", service([{ ...http, protocol: "SCTP" }]), "PortsNotSupported"],
    ["has two node ports for one port", service([http, { ...dns, port: 80 }]), "PortsNotSupported"],
    [
      "has two target ports for one port",
      service([http, { ...http, name: "udp", protocol: "UDP", targetPort: 1 }]),
      "PortsNotSupported",
    ],
  ])("that %s is reported, and the load balancer stays as it is", async (_, changed, reason) => {
    await using scene = await openBalancerScene();
    await scene.balance();
    const before = await scene.aws.state();
    await scene.cluster.delete({ apiVersion: "v1", kind: "Service" }, "web");
    await scene.apply(...(changed ? [changed] : []));
    expect(await scene.condition("Ready")).toMatchObject({ status: "False", reason });
    expect(await scene.aws.state()).toEqual(before);
    await scene.cluster.delete({ apiVersion: "v1", kind: "Service" }, "web");
    await scene.apply(service());
    expect((await scene.condition("Ready"))?.status).toBe("True");
  });

  test("that changes its ports changes listeners and target groups, and that is no drift", async () => {
    await using scene = await openBalancerScene();
    await scene.balance();
    await scene.apply(service([http, dns]));
    expect((await balancerOf(scene))?.["listeners"]).toEqual({
      "80": "TCP to instance-TCP-80",
      "53": "UDP to instance-UDP-53",
    });
    await scene.apply(service([dns]));
    expect((await balancerOf(scene))?.["listeners"]).toEqual({ "53": "UDP to instance-UDP-53" });
    expect(Object.keys(await groupsOf(scene))).toEqual(["instance-UDP-53"]);
    expect(scene.events()).not.toContain("Drifted");
    expect(scene.events()).toContain("Updating");
  });

  test("that changes its ports while target groups cannot be read leaves none behind", async () => {
    await using scene = await openBalancerScene();
    await scene.balance();
    scene.front.faults.set("DescribeTargetGroups", { status: 403, code: "AccessDenied" });
    await scene.apply(service([dns]));
    expect(await scene.condition("TargetGroups")).toMatchObject({ status: "False", reason: "AccessDenied" });
    scene.front.faults.clear();
    await scene.cluster.advance("301s");
    expect(Object.keys(await groupsOf(scene))).toEqual(["instance-UDP-53"]);
  });

  test("that changes the protocol of a port changes its listener, and a group in use stays until then", async () => {
    await using scene = await openBalancerScene();
    await scene.balance();
    await scene.apply(service([{ ...http, protocol: "UDP" }]));
    // The server of the tests refuses UDP here; AWS takes it.
    expect(scene.front.last("ModifyListener").get("Protocol")).toBe("UDP");
    expect(await scene.condition("Listeners")).toMatchObject({ status: "False", reason: "InvalidSetting" });
    expect(await scene.condition("TargetGroups")).toMatchObject({ status: "False", reason: "InUse" });
    expect(Object.keys(await groupsOf(scene)).sort()).toEqual(["instance-TCP-80", "instance-UDP-80"]);
    await scene.remove();
    expect(await scene.aws.state()).toEqual({ balancers: {}, groups: {} });
  });

  test("with TCP and UDP at one node port has one listener for both", async () => {
    await using scene = await openBalancerScene();
    // kubectl apply merges ports by their number, and would lose one.
    await scene.cluster.delete(service(), "web");
    await scene.apply(service([dns, { ...dns, name: "dns-tcp", protocol: "TCP" }]));
    await scene.balance();
    expect((await balancerOf(scene))?.["listeners"]).toEqual({ "53": "TCP_UDP to instance-TCP_UDP-53" });
  });

  test("with externalTrafficPolicy Local has its nodes checked at its health check port", async () => {
    await using scene = await openBalancerScene();
    await scene.apply(service([http], { externalTrafficPolicy: "Local", healthCheckNodePort: 31000 }));
    await scene.balance();
    expect((await groupsOf(scene))["instance-TCP-80"]?.health).toBe("HTTP 31000 /healthz 10");
    await scene.balance({ healthCheck: { protocol: "TCP", port: 9000 } });
    expect((await groupsOf(scene))["instance-TCP-80"]?.health).toMatch(/^TCP 9000 .* 30$/);
    await scene.balance({ targetType: "ip" });
    expect((await groupsOf(scene))["ip-TCP-80"]?.health).toMatch(/^TCP traffic-port .* 30$/);
  });

  test("that changes its ports while the load balancer is gone leaves no target group behind", async () => {
    await using scene = await openBalancerScene();
    await scene.balance();
    const { arn } = await only(scene);
    await scene.aws.elb.send(new DeleteLoadBalancerCommand({ LoadBalancerArn: arn }));
    await scene.apply(service([dns]));
    expect((await balancerOf(scene))?.["listeners"]).toEqual({ "53": "UDP to instance-UDP-53" });
    expect(Object.keys(await groupsOf(scene))).toEqual(["instance-UDP-53"]);
  });

  test("keeps its address, whatever others write there", async () => {
    await using scene = await openBalancerScene();
    await scene.balance();
    const address = await scene.address();
    const status = { loadBalancer: { ingress: [{ ip: "10.0.0.1" }] } };
    await scene.cluster.writeStatus({ ...service(), status });
    await scene.cluster.runUntilIdle();
    expect(await scene.address()).toEqual(address);
  });
});

describe("targets", () => {
  const targets = async (scene: BalancerScene) => (await groupsOf(scene))["instance-TCP-80"]?.targets;

  test("are all nodes but those that leave or ask to be left out", async () => {
    await using scene = await openBalancerScene();
    await scene.balance();
    await scene.apply(
      node("c"),
      node("d", { providerID: "kind://docker/d" }),
      node("e", { taints: [{ key: "ToBeDeletedByClusterAutoscaler", effect: "NoSchedule" }] }),
      node("f", {}, { "node.kubernetes.io/exclude-from-external-load-balancers": "" }),
      node("g", { taints: [{ key: "node.kubernetes.io/not-ready", effect: "NoSchedule" }] }),
    );
    expect(await targets(scene)).toEqual(["i-0a:30080", "i-0b:30080", "i-0c:30080", "i-0g:30080"]);
    await scene.cluster.delete({ apiVersion: "v1", kind: "Node" }, "b");
    await scene.cluster.runUntilIdle();
    expect(await targets(scene)).toEqual(["i-0a:30080", "i-0c:30080", "i-0g:30080"]);
    // Nodes come and go: the object stays Ready, and its record does not grow.
    expect(scene.events()).not.toContain("Updating");
    expect(Object.keys((await scene.status())["written"] as object).join()).not.toContain("targets");
  });

  test("that are still draining are registered again if they return", async () => {
    await using scene = await openBalancerScene();
    await scene.balance();
    scene.front.forget();
    scene.front.faults.set("DescribeTargetHealth", (answer) => {
      scene.front.faults.clear();
      return answer.replace(/<State>\w+<\/State>/, "<State>draining</State>");
    });
    await scene.cluster.advance("301s");
    expect(scene.front.writes()).toEqual(["RegisterTargets"]);
    expect((await scene.condition("Ready"))?.status).toBe("True");
  });

  test("that others have taken out are registered again", async () => {
    await using scene = await openBalancerScene();
    await scene.balance();
    const { TargetGroups: [group] = [] } = await scene.aws.elb.send(new DescribeTargetGroupsCommand({}));
    const Targets = [{ Id: "i-0a", Port: 30080 }];
    await scene.aws.elb.send(
      new DeregisterTargetsCommand({ TargetGroupArn: group?.TargetGroupArn ?? "", Targets }),
    );
    await scene.cluster.advance("5m");
    expect(await targets(scene)).toEqual(["i-0a:30080", "i-0b:30080"]);
  });

  test("are the ready Pods with targetType ip, and the former target group goes", async () => {
    await using scene = await openBalancerScene();
    await scene.balance();
    const slice = {
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      metadata: { name: "web-1", labels: { "kubernetes.io/service-name": "web" } },
      addressType: "IPv4",
      ports: [
        { name: "metrics", port: 9090 },
        { name: "http", port: 8080 },
      ],
      endpoints: [
        { addresses: ["172.31.0.1"], conditions: { ready: true } },
        { addresses: ["172.31.0.2"], conditions: { ready: false } },
        { addresses: ["172.31.0.3"], conditions: {} },
      ],
    };
    await scene.apply(slice, {
      ...slice,
      metadata: { name: "web-6", labels: slice.metadata.labels },
      addressType: "IPv6",
    });
    await scene.balance({ targetType: "ip" });
    expect(await groupsOf(scene)).toMatchObject({
      "ip-TCP-80": { targets: ["172.31.0.1:8080", "172.31.0.3:8080"] },
    });
    expect(Object.keys(await groupsOf(scene))).toEqual(["ip-TCP-80"]);
    await scene.apply({ ...slice, endpoints: slice.endpoints.slice(2) });
    expect((await groupsOf(scene))["ip-TCP-80"]?.targets).toEqual(["172.31.0.3:8080"]);
    // Kubernetes may move an endpoint to another slice: for a moment both have it.
    await scene.apply({ ...slice, metadata: { ...slice.metadata, name: "web-2" } });
    expect((await groupsOf(scene))["ip-TCP-80"]?.targets).toEqual(["172.31.0.1:8080", "172.31.0.3:8080"]);
    expect((await scene.condition("Ready"))?.status).toBe("True");
  });
});

describe("settings", () => {
  test("are written, changed, and removed", async () => {
    await using scene = await openBalancerScene();
    await scene.balance({
      crossZone: true,
      ipAddressType: "dualstack",
      accessLogs: { bucket: "logs", prefix: "web" },
    });
    expect(await balancerOf(scene)).toMatchObject({
      addresses: "dualstack",
      attributes: {
        "load_balancing.cross_zone.enabled": "true",
        "access_logs.s3.enabled": "true",
        "access_logs.s3.bucket": "logs",
        "access_logs.s3.prefix": "web",
      },
    });
    const more = scene.aws.subnets.slice(0, 3);
    await scene.balance({ subnets: more, crossZone: false, accessLogs: { bucket: "logs" } });
    expect(await balancerOf(scene)).toMatchObject({
      subnets: more,
      addresses: "ipv4",
      attributes: { "load_balancing.cross_zone.enabled": "false", "access_logs.s3.prefix": "" },
    });
    await scene.balance({ subnets: [...more, ...more] });
    expect((await balancerOf(scene))?.["attributes"]).toMatchObject({ "access_logs.s3.enabled": "false" });
    expect((await scene.condition("Ready"))?.status).toBe("True");
    // Each was read again after it was written.
    expect(scene.events()).not.toContain("NotKept");
  });

  test("have tags that are removed before others are added", async () => {
    await using scene = await openBalancerScene();
    await scene.balance({ tags: { a: "1", b: "1" } });
    scene.front.forget();
    await scene.balance({ tags: { b: "2", c: "1" } });
    expect(scene.front.writes()).toEqual(["RemoveTags", "AddTags"]);
    const tags = (await balancerOf(scene))?.["tags"];
    expect(tags).toMatchObject({ b: "2", c: "1" });
    expect(tags).not.toHaveProperty("a");
  });

  test("that others change are reported and corrected, and those that the spec leaves out stay", async () => {
    await using scene = await openBalancerScene();
    await scene.balance({ crossZone: true });
    const { arn, listeners } = await only(scene);
    const set = (Key: string, Value: string) =>
      scene.aws.elb.send(
        new ModifyLoadBalancerAttributesCommand({ LoadBalancerArn: arn, Attributes: [{ Key, Value }] }),
      );
    await set("load_balancing.cross_zone.enabled", "false");
    await set("zonal_shift.config.enabled", "true");
    await scene.aws.elb.send(new DeleteListenerCommand({ ListenerArn: listeners[0]?.ListenerArn ?? "" }));
    await scene.cluster.advance("301s");
    expect(await balancerOf(scene)).toMatchObject({
      attributes: { "load_balancing.cross_zone.enabled": "true", "zonal_shift.config.enabled": "true" },
      listeners: { "80": "TCP to instance-TCP-80" },
    });
    expect(scene.events()).toContain("Drifted");
  });

  test("that AWS refuses are reported, and the others are written all the same", async () => {
    await using scene = await openBalancerScene();
    await scene.balance();
    scene.front.faults.set("SetSecurityGroups", { status: 400, code: "InvalidConfigurationRequest" });
    await scene.balance({ securityGroups: ["sg-0123"], crossZone: true });
    expect(await scene.condition("SecurityGroups")).toMatchObject({
      status: "False",
      reason: "InvalidSetting",
    });
    expect(await scene.condition("CrossZone")).toMatchObject({ status: "True" });
    expect((await scene.condition("Ready"))?.status).toBe("False");
    // It is tried once at each poll, and nothing is written to the object.
    const before = await scene.status();
    scene.front.forget();
    scene.front.faults.set("SetSecurityGroups", { status: 400, code: "InvalidConfigurationRequest" });
    await scene.cluster.advance("10m");
    expect(scene.front.writes()).toEqual(["SetSecurityGroups", "SetSecurityGroups"]);
    expect(await scene.status()).toEqual(before);
    expect(scene.events()).not.toContain("Drifted");
  });

  test("that cannot be changed are refused with what to do", async () => {
    await using scene = await openBalancerScene();
    await scene.balance();
    await scene.balance({ scheme: "internet-facing" });
    expect(await scene.condition("Ready")).toMatchObject({ status: "False", reason: "Immutable" });
    expect((await scene.condition("Ready"))?.message).toContain("Set spec.scheme to it");
    await scene.balance({ region: "eu-west-1" });
    expect(await scene.condition("Ready")).toMatchObject({ status: "False", reason: "Immutable" });
    expect((await scene.condition("Ready"))?.message).toContain("Set spec.region to it");
  });
});

describe("ownership", () => {
  const foreign = async (scene: BalancerScene) => {
    const { LoadBalancers: [made] = [] } = await scene.aws.elb.send(
      new CreateLoadBalancerCommand({
        Name: "default-web",
        Type: "network",
        Scheme: "internal",
        Subnets: [...scene.subnets],
      }),
    );
    const arn = made?.LoadBalancerArn ?? "";
    const { TargetGroups: [group] = [] } = await scene.aws.elb.send(
      new CreateTargetGroupCommand({
        Name: "theirs",
        Protocol: "TCP",
        Port: 22,
        VpcId: made?.VpcId,
        TargetType: "instance",
      }),
    );
    for (const Port of [22, 80]) {
      const DefaultActions = [{ Type: "forward" as const, TargetGroupArn: group?.TargetGroupArn }];
      await scene.aws.elb.send(
        new CreateListenerCommand({ LoadBalancerArn: arn, Protocol: "TCP", Port, DefaultActions }),
      );
    }
    return arn;
  };

  test("a load balancer that exists is left alone", async () => {
    await using scene = await openBalancerScene();
    await foreign(scene);
    const before = await scene.aws.state();
    await scene.balance();
    expect(await scene.condition("Ready")).toMatchObject({ status: "False", reason: "NotOwned" });
    expect(await scene.aws.state()).toEqual(before);
    expect(await scene.address()).toEqual({});
    await scene.remove();
    expect(await scene.aws.state()).toEqual(before);
  });

  test("one without an owner is adopted if the spec says so, and listeners of other ports stay", async () => {
    await using scene = await openBalancerScene();
    await foreign(scene);
    await scene.balance({ adopt: "IfUnowned" });
    expect((await balancerOf(scene))?.["listeners"]).toEqual({
      "22": "TCP to instance-TCP-22",
      "80": "TCP to instance-TCP-80",
    });
  });

  test("one of another type is reported, and does not delay the deletion of the object", async () => {
    await using scene = await openBalancerScene();
    const [Name, Type] = ["default-web", "application"] as const;
    await scene.aws.elb.send(new CreateLoadBalancerCommand({ Name, Type, Subnets: [...scene.subnets] }));
    const before = await scene.aws.state();
    await scene.balance();
    expect(await scene.condition("Ready")).toMatchObject({ status: "False", reason: "WrongType" });
    await scene.remove();
    expect(await scene.exists()).toBe(false);
    expect(await scene.aws.state()).toEqual(before);
  });

  test("one of another object is not adopted", async () => {
    await using scene = await openBalancerScene();
    const arn = await foreign(scene);
    const Tags = [{ Key: "drover.dev/owner-uid", Value: "another" }];
    await scene.aws.elb.send(new AddTagsCommand({ ResourceArns: [arn], Tags }));
    await scene.balance({ adopt: "IfUnowned" });
    expect(await scene.condition("Ready")).toMatchObject({ reason: "NotOwned" });
  });

  test("a target group of the name that was not created for the object is not used", async () => {
    await using scene = await openBalancerScene();
    await scene.apply(service([]));
    await scene.balance();
    const { metadata } = (await scene.cluster.get(loadBalancer({}), "web")) ?? { metadata: { uid: "" } };
    const Name = targetGroupName(metadata.uid, "instance-TCP-80");
    const { LoadBalancers: [made] = [] } = await scene.aws.elb.send(new DescribeLoadBalancersCommand({}));
    const VpcId = made?.VpcId;
    await scene.aws.elb.send(new CreateTargetGroupCommand({ Name, Protocol: "TCP", Port: 1, VpcId }));
    const before = await groupsOf(scene);
    await scene.apply(service());
    expect(await scene.condition("TargetGroups")).toMatchObject({ status: "False", reason: "NotOwned" });
    expect(await groupsOf(scene)).toEqual(before);
    expect((await balancerOf(scene))?.["listeners"]).toEqual({});
  });
});

describe("the deletion of the object", () => {
  test("deletes load balancer, listeners and target groups, after the address is withdrawn", async () => {
    await using scene = await openBalancerScene();
    await scene.balance();
    const address = scene.address();
    let withdrawn: unknown;
    scene.front.faults.set("DeleteLoadBalancer", (answer) => {
      withdrawn = scene.address();
      return answer;
    });
    await scene.remove();
    expect(await address).toMatchObject({ ingress: [expect.anything()] });
    expect(await withdrawn).toEqual({});
    expect(await scene.aws.state()).toEqual({ balancers: {}, groups: {} });
    expect(await scene.exists()).toBe(false);
  });

  test("leaves no target group, also if the load balancer is gone already", async () => {
    await using scene = await openBalancerScene();
    await scene.balance();
    const { arn } = await only(scene);
    await scene.aws.elb.send(new DeleteLoadBalancerCommand({ LoadBalancerArn: arn }));
    await scene.remove();
    expect(await scene.aws.state()).toEqual({ balancers: {}, groups: {} });
    expect(await scene.exists()).toBe(false);
  });

  test("leaves no target group, also if the load balancer is gone and cannot be created again", async () => {
    await using scene = await openBalancerScene();
    await scene.balance();
    const { arn } = await only(scene);
    await scene.aws.elb.send(new DeleteLoadBalancerCommand({ LoadBalancerArn: arn }));
    scene.front.faults.set("CreateLoadBalancer", { status: 400, code: "TooManyLoadBalancers" });
    await scene.cluster.advance("301s");
    expect(await scene.condition("Ready")).toMatchObject({ status: "False", reason: "TooMany" });
    expect(await scene.address()).toEqual({});
    await scene.remove();
    expect(await scene.aws.state()).toEqual({ balancers: {}, groups: {} });
  });

  test("keeps everything, and the Service its address, with onDelete Retain", async () => {
    await using scene = await openBalancerScene();
    await scene.balance({ onDelete: "Retain" });
    const address = await scene.address();
    await scene.remove();
    expect(await scene.exists()).toBe(false);
    expect(await balancerOf(scene)).toMatchObject({
      tags: {},
      listeners: { "80": "TCP to instance-TCP-80" },
    });
    expect(await scene.address()).toEqual(address);
  });

  test("leaves an address that another controller has written", async () => {
    await using scene = await openBalancerScene();
    await scene.balance();
    await scene.cluster.delete({ apiVersion: "v1", kind: "Service" }, "web");
    const theirs = service([http], { loadBalancerClass: "other.example.com/nlb" });
    const status = { loadBalancer: { ingress: [{ hostname: "other.example.com" }] } };
    await scene.apply(theirs);
    await scene.cluster.writeStatus({ ...theirs, status });
    await scene.remove();
    expect(await scene.aws.state()).toEqual({ balancers: {}, groups: {} });
    expect(await scene.address()).toEqual(status.loadBalancer);
  });

  test("waits for a target group that is still in use", async () => {
    await using scene = await openBalancerScene();
    await scene.balance();
    scene.front.faults.set("DeleteTargetGroup", { status: 400, code: "ResourceInUse" });
    await scene.cluster.delete({ apiVersion: "elb.drover.dev/v1alpha1", kind: "LoadBalancer" }, "web");
    await scene.cluster.advance("1s");
    expect(await scene.condition("Ready")).toMatchObject({ reason: "InUse" });
    scene.front.faults.clear();
    await scene.cluster.runUntilIdle();
    expect(await scene.exists()).toBe(false);
    expect(await scene.aws.state()).toEqual({ balancers: {}, groups: {} });
  });

  test("waits as long as the load balancer is protected, and reports it", async () => {
    await using scene = await openBalancerScene();
    await scene.balance({ deletionProtection: true });
    scene.front.faults.set("DeleteLoadBalancer", { status: 400, code: "OperationNotPermitted" });
    await scene.cluster.delete({ apiVersion: "elb.drover.dev/v1alpha1", kind: "LoadBalancer" }, "web");
    await scene.cluster.advance("1s");
    expect(await scene.condition("Ready")).toMatchObject({ reason: "OperationNotPermitted" });
    expect((await scene.condition("Ready"))?.message).toContain("spec.deletionProtection");
    expect(await balancerOf(scene)).toBeDefined();
  });
});

test("with manage: ObserveOnly nothing is written, neither to AWS nor to the Service", async () => {
  await using scene = await openBalancerScene();
  await scene.balance();
  const before = await scene.aws.state();
  const status = { loadBalancer: { ingress: [{ hostname: "other.example.com" }] } };
  await scene.balance({ manage: "ObserveOnly", crossZone: true });
  scene.front.forget();
  await scene.cluster.writeStatus({ ...service(), status });
  await scene.cluster.runUntilIdle();
  expect(scene.front.writes()).toEqual([]);
  expect(await scene.address()).toEqual(status.loadBalancer);
  expect(await scene.condition("Ready")).toMatchObject({ status: "False", reason: "Drifted" });
  await scene.remove();
  expect(await scene.aws.state()).toEqual(before);
  expect(await scene.address()).toEqual(status.loadBalancer);
});
