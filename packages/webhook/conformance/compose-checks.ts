import { randomUUID } from "node:crypto";
import { z } from "zod";
import type { Call } from "../src/index.ts";
import { signedMessage } from "../src/testing/mutants.ts";
import {
  answerIn,
  callOf,
  type Check,
  deliver,
  expectEqual,
  expectRefused,
  outcomeIn,
  sendCall,
  signingContextOf,
  type Subject,
} from "./subject.ts";

const website = { html: '<h1>Zoë & 日本</h1>\n"quoted" \\ $(id)', image: "web:1", replicas: 2 };
const deploymentWith = (status: object): NonNullable<Call["children"]>[number] => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "ada", namespace: "web", uid: "d", resourceVersion: "7" },
  spec: { replicas: 2 },
  status,
});
const secretNamed = (name: string): NonNullable<Call["related"]>[number] => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name, namespace: "web", uid: "s", resourceVersion: "8" },
});
/** A call to declare the children of the object web/ada. */
function composeCall(subject: Subject, more: Partial<Call> = {}, spec: object = {}): Call {
  const call = callOf(
    subject,
    { ...website, ...spec },
    { type: "dev.drover.compose.v2", children: [], ...more },
  );
  const { metadata } = call.object;
  return { ...call, object: { ...call.object, metadata: { ...metadata, name: "ada" } } };
}
const composedIn = async (subject: Subject, call: Call) =>
  outcomeIn(subject, call, await sendCall(subject, call), "composed");

const templateSchema = z.looseObject({
  metadata: z.looseObject({ annotations: z.record(z.string(), z.string()) }),
  spec: z.looseObject({ containers: z.array(z.looseObject({ envFrom: z.unknown() })) }),
});

const labels = { "app.kubernetes.io/name": "website", "app.kubernetes.io/instance": "ada" };
const websiteChildren = [
  { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "ada" }, data: { "index.html": website.html } },
  {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "ada" },
    spec: {
      replicas: 2,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          containers: [
            {
              name: "web",
              image: "web:1",
              ports: [{ name: "http", containerPort: 8080 }],
              readinessProbe: { httpGet: { path: "/", port: "http" } },
              volumeMounts: [{ name: "page", mountPath: "/usr/share/nginx/html", readOnly: true }],
            },
          ],
          volumes: [{ name: "page", configMap: { name: "ada" } }],
        },
      },
    },
  },
  {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "ada" },
    spec: { selector: labels, ports: [{ name: "http", port: 80, targetPort: "http" }] },
  },
];

/** The checks of a function that declares the children of a Website. It needs no count of runs: they have no effects. */
export const composeChecks: readonly Check[] = [
  {
    name: "declares all children, and a status, signed under the call's id",
    run: async (subject) => {
      const { children, status } = await composedIn(subject, composeCall(subject));
      expectEqual(children, websiteChildren, "children");
      expectEqual(status, { address: "http://ada.web.svc", readyReplicas: 0 }, "status");
    },
  },
  {
    name: "keeps the digits of an integer beyond 2^53, or parks it: it does not round",
    needs: "integers of 64 bits",
    run: async (subject) => {
      const call = composeCall(subject);
      const text = JSON.stringify(call).replace('"replicas":2', '"replicas":9007199254740993');
      const reply = await deliver(subject, signedMessage(text, call.token, signingContextOf(subject)));
      const answer = answerIn(subject, call, reply);
      if (answer.outcome === "parked") {
        expectEqual(answer.reason, "InvalidSpec", "the reason");
        return;
      }
      const [, digits] = /"replicas": ?(\d+)/.exec(Buffer.from(reply.body).toString()) ?? [];
      expectEqual(digits, "9007199254740993", "the number of replicas");
    },
  },
  {
    name: "reads the children that exist, beside others and fields that it does not have",
    run: async (subject) => {
      const other = { ...deploymentWith({ readyReplicas: 1 }), kind: "StatefulSet" };
      const children = [other, deploymentWith({ readyReplicas: 2, nice: [null, 1.5] })];
      const call = { ...composeCall(subject, { children }), related: [secretNamed("theme")], later: null };
      expectEqual((await composedIn(subject, call)).status?.["readyReplicas"], 2, "status.readyReplicas");
    },
  },
  {
    name: "waits for the Secret that the object references, and gives it to the web server",
    run: async (subject) => {
      const spec = { secretName: "theme" };
      const waiting = composeCall(subject, { related: [secretNamed("other")] }, spec);
      const { reason, message } = outcomeIn(subject, waiting, await sendCall(subject, waiting), "again");
      expectEqual([reason, message], ["NoSecret", "Create the Secret theme."], "reason and message");
      const call = composeCall(subject, { related: [secretNamed("other"), secretNamed("theme")] }, spec);
      const { children } = await composedIn(subject, call);
      const template = z.looseObject({ spec: z.looseObject({ template: templateSchema }) }).parse(children[1])
        .spec.template;
      expectEqual(template.metadata.annotations, { "example.com/secret-version": "8" }, "annotations");
      expectEqual(template.spec.containers[0]?.envFrom, [{ secretRef: { name: "theme" } }], "envFrom");
    },
  },
  {
    name: "answers a call to compose that comes again as before",
    run: async (subject) => {
      const call = composeCall(subject);
      const sent = signedMessage(call, call.token, signingContextOf(subject));
      const [first, second] = [await deliver(subject, sent), await deliver(subject, sent)];
      outcomeIn(subject, call, first, "composed");
      expectEqual(
        Buffer.from(second.body).toString(),
        Buffer.from(first.body).toString(),
        "the second answer",
      );
    },
  },
  {
    name: "answers a conflict to a call to compose that is older than the newest of its key, or reuses an id",
    run: async (subject) => {
      const call = composeCall(subject);
      await composedIn(subject, call);
      const metadata = { ...call.object.metadata, resourceVersion: "999" };
      const older = { ...call, token: randomUUID(), object: { ...call.object, metadata } };
      const reused = { ...call, children: [deploymentWith({ readyReplicas: 2 })] };
      for (const late of [older, reused]) outcomeIn(subject, late, await sendCall(subject, late), "conflict");
      const newer = { ...call, token: randomUUID() };
      await composedIn(subject, newer);
    },
  },
  {
    name: "parks a call to reconcile, and lets an object go that is finalized",
    run: async (subject) => {
      for (const [verb, outcome] of [
        ["reconcile", "parked"],
        ["finalize", "finalized"],
      ] as const) {
        const call = composeCall(subject, { type: `dev.drover.${verb}.v2` });
        outcomeIn(subject, call, await sendCall(subject, call), outcome);
      }
    },
  },
  {
    name: "signs no answer to mutants of a call to compose: forged, misdirected, expired, malformed",
    run: async (subject) => expectRefused(subject, () => composeCall(subject)),
  },
];
