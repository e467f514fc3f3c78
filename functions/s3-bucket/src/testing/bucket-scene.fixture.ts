import { afterAll, beforeEach } from "vitest";
import { type BucketScene, openBucketScene } from "./bucket-scene.ts";

/** A scene for the tests of a file: each test starts without recorded calls and faults; it ends with the file. */
export async function bucketSceneOfFile(): Promise<BucketScene> {
  const scene = await openBucketScene();
  afterAll(() => scene.close());
  beforeEach(() => scene.proxy.forget());
  return scene;
}
