-- How Argo CD judges an object of a function: in the ConfigMap argocd-cm, for each API group or for one kind,
--   resource.customizations.health.example.com_*: |
--     (this file)
local status = obj.status or {}
local byType = {}
for _, condition in ipairs(status.conditions or {}) do
  byType[condition.type] = condition
end
local function is(type) return byType[type] ~= nil and byType[type].status == 'True' end
local function health(name, type)
  local condition = byType[type] or {}
  return { status = name, message = condition.message or 'Waiting for its first run.' }
end
if (obj.metadata.annotations or {})['drover.dev/paused'] == 'true' then
  return { status = 'Suspended', message = 'Its annotation drover.dev/paused says so.' }
elseif status.observedGeneration ~= obj.metadata.generation then
  return health('Progressing')
elseif is('Stalled') then
  return health('Degraded', 'Stalled')
elseif is('Reconciling') then
  return health('Progressing', 'Reconciling')
elseif not is('Ready') then
  return health('Progressing', 'Ready')
elseif byType.Ready.reason == 'Paused' then
  return health('Suspended', 'Ready')
end
return health('Healthy', 'Ready')
