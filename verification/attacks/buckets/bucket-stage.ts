import { CreateBucketCommand, PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { bucket, isGone, isReady, startWorld, type World } from "../../end-to-end/stage/world.ts";
import { within } from "../streams/bridge-stage.ts";

/** The shipped bridge and bucket function, an S3 server, and a client that may write into its buckets. */
export interface BucketStage extends AsyncDisposable {
  readonly world: World;
  /** Makes a Bucket object that is emptied when it is deleted, and waits for its bucket. */
  make(name: string): Promise<void>;
  makeBucket(name: string): Promise<void>;
  put(name: string, key: string): Promise<void>;
  delete(name: string): Promise<void>;
  isGone(name: string): Promise<boolean>;
  /** The message of the object's Ready condition. */
  readyMessage(name: string): Promise<string | undefined>;
}

const done = (sent: Promise<unknown>): Promise<void> => sent.then(() => undefined);

export async function openBucketStage(): Promise<BucketStage> {
  const world = await startWorld();
  await Promise.all([world.startBridge(), world.startWorker()]);
  const { url: endpoint, region, accessKeyId, secretAccessKey } = world.s3;
  const credentials = { accessKeyId, secretAccessKey };
  const s3 = new S3Client({ endpoint, region, forcePathStyle: true, credentials });
  const manifest = (name: string) => bucket(name, { emptyOnDelete: true });
  return {
    world,
    async make(name) {
      await world.cluster.apply(manifest(name));
      const made = await within(60, async () => isReady(await world.cluster.get(manifest(name))));
      if (!made) throw new Error(`Bucket ${name} was not made.`);
    },
    makeBucket: (Bucket) => done(s3.send(new CreateBucketCommand({ Bucket }))),
    put: (Bucket, Key) => done(s3.send(new PutObjectCommand({ Bucket, Key, Body: "x" }))),
    delete: (name) => world.cluster.remove(manifest(name)),
    isGone: async (name) => isGone(await world.cluster.get(manifest(name))),
    async readyMessage(name) {
      const object = await world.cluster.get(manifest(name));
      return object?.status?.conditions?.find(({ type }) => type === "Ready")?.message;
    },
    async [Symbol.asyncDispose]() {
      s3.destroy();
      await world.stop();
    },
  };
}
