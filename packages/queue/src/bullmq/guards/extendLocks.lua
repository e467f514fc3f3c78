-- Workers extend no more locks at once than they may hold.
--- @include "bullmq/guards/arguments"

local asked = cmsgpack.unpack(ARGV[3])
refuseUnless(type(asked) == 'table' and #asked <= maxActiveJobs / 2, 'as many locks')
