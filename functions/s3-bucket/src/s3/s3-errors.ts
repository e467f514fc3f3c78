import { awsErrors, type NextAction, stop, wait } from "@drover/aws";

const accessDenied = wait(
  "1m",
  "AccessDenied",
  "Allow it for the credentials in use. If the bucket is another account's, choose another spec.bucketName.",
);
const wrongRegion = stop("RegionMismatch", "Set spec.region to the region that the server expects.");
const busy = wait(
  "5s",
  "OperationAborted",
  "Another operation on this bucket is in progress; it is tried again.",
);

/** https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html */
const byCode: Readonly<Record<string, NextAction>> = {
  BucketAlreadyExists: stop(
    "NameTaken",
    "Another account has a bucket of this name: choose another spec.bucketName.",
  ),
  InvalidBucketName: stop("InvalidName", "Choose another spec.bucketName."),
  InvalidTag: stop("InvalidTag", "Correct spec.tags."),
  PermanentRedirect: wrongRegion,
  AuthorizationHeaderMalformed: wrongRegion,
  IllegalLocationConstraintException: wrongRegion,
  IncompatibleLocationConstraintException: wrongRegion,
  InvalidLocationConstraint: wrongRegion,
  TooManyBuckets: wait(
    "5m",
    "TooManyBuckets",
    "Delete buckets that are not needed, or have the account's limit raised.",
  ),
  OperationAborted: busy,
  BucketAlreadyOwnedByYou: busy,
  TemporaryRedirect: busy,
};

export const { responseOrRefusal, errorAfter, refusedCreation } = awsErrors("S3", byCode, accessDenied);
