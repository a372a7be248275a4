// The store inside Redis, as five scripts: each runs whole or not at all, and nothing else runs meanwhile. Everything lies under
// one hash tag, so that a cluster keeps it on one node.
//
//   PREFIXmeta        hash  since, run (the server's run id, and how many keys it has evicted), version (a counter), keptbytes,
//                           swept (a place)
//   PREFIXe:KEY       hash  v version, d value, x expiresAt
//   PREFIXdue         zset  key by dueAt              PREFIXlist      zset  listed key by its place, a version
//   PREFIXkept        zset  kept answers by expiresAt                 PREFIXkeptsizes   hash  their bytes
//   PREFIXl:LEDGER    zset  member by expiresAt     PREFIXa:LEDGER    hash  member to amount
//
// Invariant: numbers travel as text. Lua's own text of a number keeps 14 digits.
// Invariant: all that can refuse or fail comes before the first write.

/** What Redis says when the server may drop entries to make room. */
export const EVICTS = "TOLLGATE_EVICTS";

/** `clock`: an expression of milliseconds to add to the server's time; tests move it. */
const head = (clock: string) => `
local p = string.sub(KEYS[1], 1, -5)
local at = 0
local function take() at = at + 1; return ARGV[at] end
local function text(number) return string.format('%.0f', number) end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000) + ${clock}
local meta = redis.call('HMGET', KEYS[1], 'since', 'run', 'version')
local run = string.match(redis.call('INFO', 'server'), 'run_id:(%w+)')
local evicted = string.match(redis.call('INFO', 'stats'), 'evicted_keys:(%d+)')
if not run or not evicted then
  return redis.error_reply('TOLLGATE_RUN this server does not tell its run id and what it has evicted')
end
run = run .. ' ' .. evicted
-- A server that was started anew, or that took over from another, may have forgotten what that one had answered; so may one that
-- has evicted anything since, although its policy may be the right one again.
if meta[2] ~= run then
  local policy = string.match(redis.call('INFO', 'memory'), 'maxmemory_policy:([%w%-]+)')
  if policy ~= 'noeviction' then return redis.error_reply('${EVICTS} ' .. tostring(policy)) end
  -- Versions begin where no earlier memory can have come to.
  local version = math.max(tonumber(meta[3] or '0'), now * 1000)
  redis.call('DEL', p .. 'none')
  redis.call('HSET', KEYS[1], 'since', text(now), 'run', run, 'version', text(version))
  meta[1] = text(now)
end
local since = meta[1]
local function entry(key)
  local found = redis.call('HMGET', p .. 'e:' .. key, 'v', 'd', 'x')
  if not found[1] or tonumber(found[3]) <= now then return '0', '' end
  return found[1], found[2]
end
`;

const READ = `
local reply = { text(now), since }
for _ = 1, tonumber(take()) do
  local version, value = entry(take())
  reply[#reply + 1] = version
  reply[#reply + 1] = value
end
for _ = 1, tonumber(take()) do
  reply[#reply + 1] = text(redis.call('ZCOUNT', p .. 'l:' .. take(), '(' .. text(now), '+inf'))
end
return reply
`;

const DUE = `
local limit, skip = tonumber(take()), tonumber(take())
local reply = {}
while #reply < limit do
  local keys = redis.call('ZRANGEBYSCORE', p .. 'due', '-inf', text(now), 'LIMIT', skip + #reply, limit - #reply)
  if #keys == 0 then break end
  for _, key in ipairs(keys) do
    if entry(key) == '0' then redis.call('ZREM', p .. 'due', key) else reply[#reply + 1] = key end
  end
end
return reply
`;

const LIST = `
local cursor, limit = take(), take()
local below = cursor == '' and '+inf' or '(' .. cursor
local found = redis.call('ZREVRANGEBYSCORE', p .. 'list', below, '-inf', 'WITHSCORES', 'LIMIT', 0, limit)
local reply = { text(now), '' }
for i = 1, #found, 2 do
  local version, value = entry(found[i])
  if version ~= '0' then
    reply[#reply + 1] = found[i]
    reply[#reply + 1] = value
  end
end
if #found == 2 * limit then reply[2] = found[#found] end
return reply
`;

/** Exact sums of decimal text: limbs of 14 digits, whose sum a double still holds exactly. */
const SUMS = `
local function limbs(decimal)
  local list = {}
  for last = #decimal, 1, -14 do list[#list + 1] = tonumber(string.sub(decimal, math.max(1, last - 13), last)) end
  return list
end
local function add(total, decimal)
  local carry = 0
  local other = limbs(decimal)
  for i = 1, math.max(#total, #other) + 1 do
    local sum = (total[i] or 0) + (other[i] or 0) + carry
    carry = sum >= 1e14 and 1 or 0
    total[i] = sum - carry * 1e14
  end
end
local function exceeds(total, limit)
  local other = limbs(limit)
  for i = math.max(#total, #other), 1, -1 do
    local a, b = total[i] or 0, other[i] or 0
    if a ~= b then return a > b end
  end
  return false
end
`;

const COMMIT = `${SUMS}
local decided, most = take(), tonumber(take())
if decided ~= '' and decided ~= since then return 'conflict' end
local writes, needsRoom = {}, false
for _ = 1, tonumber(take()) do
  local write = { key = take(), version = take(), op = take(), value = take(), expires = take(), due = take(),
    listed = take() }
  writes[#writes + 1] = write
  if entry(write.key) ~= write.version then return 'conflict' end
  if write.op == 'put' and write.version == '0' then needsRoom = true end
end
local reserves = {}
for _ = 1, tonumber(take()) do
  local one = { ledger = take(), member = take(), amount = take(), members = take(), sum = take(), expires = take() }
  reserves[#reserves + 1] = one
  local key, count, total = p .. 'l:' .. one.ledger, 1, limbs(one.amount)
  local live = redis.call('ZCOUNT', key, '(' .. text(now), '+inf')
  local own = redis.call('ZSCORE', key, one.member)
  if own and tonumber(own) > now then live = live - 1 end
  if live + 1 > tonumber(one.members) then return 'too_many' end
  if one.sum ~= '' then
    for _, member in ipairs(redis.call('ZRANGEBYSCORE', key, '(' .. text(now), '+inf')) do
      if member ~= one.member then add(total, redis.call('HGET', p .. 'a:' .. one.ledger, member)) end
    end
    if exceeds(total, one.sum) then return 'over_sum' end
  end
end

-- The first write says whether there is room. After any write Redis lets a script end, beyond its limit of memory too.
local first = redis.pcall('HINCRBY', KEYS[1], 'version', #writes)
local noRoom = type(first) == 'table' and first.err
if noRoom then
  if not string.find(noRoom, 'OOM') then return redis.error_reply(noRoom) end
  if needsRoom then return 'full' end
  redis.call('DEL', p .. 'none')
  first = redis.call('HINCRBY', KEYS[1], 'version', #writes)
end
local version = first - #writes

local function unkeep(key)
  if redis.call('ZREM', p .. 'kept', key) == 0 then return end
  redis.call('HINCRBY', KEYS[1], 'keptbytes', '-' .. redis.call('HGET', p .. 'keptsizes', key))
  redis.call('HDEL', p .. 'keptsizes', key)
end
local function drop(key) unkeep(key); redis.call('DEL', p .. 'e:' .. key) end
local function dropSome(keys) for _, key in ipairs(keys) do drop(key) end end
if noRoom then dropSome(redis.call('ZRANGE', p .. 'kept', 0, 99)) end

-- Redis drops an entry without its place in the list. Each that is added has three places looked at, round and round.
local function sweepList()
  local swept = redis.call('HGET', KEYS[1], 'swept') or '0'
  local places = redis.call('ZRANGEBYSCORE', p .. 'list', '(' .. swept, '+inf', 'WITHSCORES', 'LIMIT', 0, 3)
  for i = 1, #places, 2 do
    if redis.call('EXISTS', p .. 'e:' .. places[i]) == 0 then redis.call('ZREM', p .. 'list', places[i]) end
  end
  redis.call('HSET', KEYS[1], 'swept', #places == 6 and places[6] or '0')
end

for _ = 1, tonumber(take()) do
  local ledger, member = take(), take()
  redis.call('ZREM', p .. 'l:' .. ledger, member)
  redis.call('HDEL', p .. 'a:' .. ledger, member)
end
for _, one in ipairs(reserves) do
  local members, amounts = p .. 'l:' .. one.ledger, p .. 'a:' .. one.ledger
  for _, ended in ipairs(redis.call('ZRANGEBYSCORE', members, '-inf', text(now))) do
    redis.call('ZREM', members, ended)
    redis.call('HDEL', amounts, ended)
  end
  redis.call('ZADD', members, one.expires, one.member)
  redis.call('HSET', amounts, one.member, one.amount)
  local last = redis.call('ZRANGE', members, -1, -1, 'WITHSCORES')[2]
  redis.call('PEXPIREAT', members, text(tonumber(last)))
  redis.call('PEXPIREAT', amounts, text(tonumber(last)))
end
for _, write in ipairs(writes) do
  local key = p .. 'e:' .. write.key
  version = version + 1
  drop(write.key)
  local keeps = write.op == 'keep' and not noRoom
  if write.op == 'put' or write.op == 'always' or keeps then
    redis.call('HSET', key, 'v', text(version), 'd', write.value, 'x', write.expires)
    redis.call('PEXPIREAT', key, write.expires)
  end
  if keeps then
    redis.call('HSET', p .. 'keptsizes', write.key, #write.value)
    redis.call('ZADD', p .. 'kept', write.expires, write.key)
    redis.call('HINCRBY', KEYS[1], 'keptbytes', #write.value)
    dropSome(redis.call('ZRANGEBYSCORE', p .. 'kept', '-inf', text(now), 'LIMIT', 0, 100))
    while tonumber(redis.call('HGET', KEYS[1], 'keptbytes')) > most do
      local oldest = redis.call('ZRANGE', p .. 'kept', 0, 0)[1]
      if not oldest then break end
      drop(oldest)
    end
  end
  if write.due ~= '' then redis.call('ZADD', p .. 'due', write.due, write.key)
  else redis.call('ZREM', p .. 'due', write.key) end
  if write.listed == '' then redis.call('ZREM', p .. 'list', write.key)
  elseif write.version ~= '0' then redis.call('ZADD', p .. 'list', 'NX', text(version), write.key)
  else
    redis.call('ZADD', p .. 'list', text(version), write.key)
    sweepList()
  end
end
return 'ok'
`;

export interface Scripts {
  readonly read: string;
  readonly commit: string;
  readonly due: string;
  readonly list: string;
  /** May this server evict? The others ask only where it may have forgotten something. */
  readonly ready: string;
}

const READY = `
local policy = string.match(redis.call('INFO', 'memory'), 'maxmemory_policy:([%w%-]+)')
if policy ~= 'noeviction' then return redis.error_reply('${EVICTS} ' .. tostring(policy)) end
return { 'ready' }
`;

/** The scripts. `ahead`: milliseconds that the store's time is ahead of the server's, as an expression of Lua. */
export const scriptsOf = (ahead = "0"): Scripts => ({
  read: head(ahead) + READ,
  commit: head(ahead) + COMMIT,
  due: head(ahead) + DUE,
  list: head(ahead) + LIST,
  ready: head(ahead) + READY,
});
