-- Returns the incarnation, the time, and how many ms of the recovery window are left.

return { control.incarnation, now, math.max(0, setting('claimsFrom', 0) - now) }
