-- Ends a lease, so that another bridge can take the stream.
--- @include "scripts/stream"

if isOurs(token) then redis.call('HDEL', STREAM, 'token', 'until', 'holder') end
return 1
