/** What people do to a Deployment, from its creation to its end, with kubectl alone. */

/** Commands one after the other, as kubectl's arguments; the last ones wait for what comes of the others. */
export interface Step {
  readonly name: string;
  readonly commands: readonly (readonly string[])[];
  /** Pods are taken away that no rollout took: fewer than ever are available for a while. */
  readonly evicts?: true;
}

export const images = { first: "example/web:1", second: "example/web:2", missing: "example/web:missing" };

const words = (text: string): readonly string[] => text.split(" ");
const patience = "--timeout=120s";
const patched = (spec: object) => ["patch", "deployment/web", "-p", JSON.stringify({ spec })];
const setImage = (image: string) => words(`set image deployment/web web=${image}`);
const complete = words(`rollout status deployment/web ${patience}`);
const untilNotProgressing = words(
  `wait deployment/web ${patience} --for=jsonpath={.status.conditions[?(@.type=="Progressing")].reason}=ProgressDeadlineExceeded`,
);
const untilUnavailable = (count: number) =>
  words(`wait deployment/web ${patience} --for=jsonpath={.status.unavailableReplicas}=${count}`);

const untilImage = (image: string) =>
  words(`wait deployment/web ${patience} --for=jsonpath={.spec.template.spec.containers[0].image}=${image}`);

/** Gives up after so many seconds. */
const patientFor = (seconds: number) => patched({ progressDeadlineSeconds: seconds });
const probed = patched({
  template: {
    spec: {
      containers: [
        {
          name: "web",
          readinessProbe: { httpGet: { path: "/", port: 8080 }, periodSeconds: 1 },
        },
      ],
    },
  },
});
const recreated = patched({ strategy: { type: "Recreate", rollingUpdate: null } });
const undone = [patientFor(600), words("rollout undo deployment/web"), complete];

/** At most one of four is missing at any time, and at most one is too many: what `kubectl create` asks for. */
export const story: readonly Step[] = [
  {
    name: "a Deployment is created",
    commands: [words(`create deployment web --image=${images.first} --replicas=4 --port=8080`), complete],
  },
  { name: "it gets a readiness probe", commands: [probed, complete] },
  { name: "a new image is rolled out", commands: [setImage(images.second), complete] },
  {
    name: "an image that is not there never runs, and the rollout stops half-way",
    commands: [patientFor(5), setImage(images.missing), untilNotProgressing],
  },
  { name: "undone, it is complete again", commands: undone },
  {
    name: "a process that runs and is never ready stops the rollout half-way",
    commands: [patientFor(5), words("set env deployment/web READY=no"), untilNotProgressing],
  },
  {
    name: "scaled meanwhile, the rollout that stands still gets its part",
    commands: [words("scale deployment/web --replicas=8"), untilUnavailable(4)],
  },
  { name: "undone, that is complete again", commands: undone },
  {
    name: "history is cut, and all is started anew",
    commands: [patched({ revisionHistoryLimit: 1 }), words("rollout restart deployment/web"), complete],
  },
  { name: "it is scaled down", commands: [words("scale deployment/web --replicas=2"), complete] },
  {
    name: "the node is drained: pods are made anew, and wait for a place",
    commands: [
      // Pods of this Deployment alone: without the controllers' own Pods no Pod could be replaced, and there is one node.
      words(
        `drain node --pod-selector=app=web --ignore-daemonsets --delete-emptydir-data --force ${patience}`,
      ),
      untilUnavailable(2),
    ],
    evicts: true,
  },
  { name: "the node takes pods again", commands: [words("uncordon node"), complete] },
  { name: "it is to be recreated from now on", commands: [recreated, complete] },
  {
    name: "recreated, old pods end before new ones come",
    commands: [setImage(images.first), complete],
  },
  {
    name: "rolled back with the annotation of former days",
    commands: [
      words("annotate deployment/web deprecated.deployment.rollback.to=0"),
      untilImage(images.second),
      complete,
    ],
  },
  {
    name: "pods that are not its own any more are let go, and others are made",
    commands: [words("label pods --overwrite --selector=app=web app=free")],
    evicts: true,
  },
  {
    name: "those come back, and are too many",
    commands: [words("label pods --overwrite --selector=app=free app=web")],
    evicts: true,
  },
  {
    name: "it is deleted, and its ReplicaSets and Pods have no owner",
    commands: [words(`delete deployment/web --cascade=orphan ${patience}`)],
  },
  {
    name: "its successor adopts that",
    commands: [words(`create deployment web --image=${images.first} --replicas=4`), complete],
  },
  {
    name: "it is deleted with all that it owns",
    commands: [words(`delete deployment/web --cascade=foreground ${patience}`)],
    evicts: true,
  },
];
