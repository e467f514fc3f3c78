-- Jobs are disposable, and Drover's own lists are never that long.
--- @include "bullmq/guards/arguments"

if redis.call('LLEN', KEYS[3]) > maxActiveJobs then redis.call('DEL', KEYS[1], KEYS[3]) end
