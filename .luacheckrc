-- For `npm run check`, which checks scripts as they are assembled: verification/lua/check.ts.
std = 'lua51'
max_line_length = 120
read_globals = { 'redis', 'cjson', 'cmsgpack', 'struct', 'bit', 'KEYS', 'ARGV' }

-- A parameter of a function may have the name of an argument of the script.
ignore = { '431' }
files['infra/argo-cd/health.lua'] = { read_globals = { 'obj' } }
