import type { ConfigMap } from '../../api/generated/types.ts'
import { parseYaml } from '../../api/json/yaml.ts'
import type { Clock } from '../../base/clock.ts'
import type { Logger } from '../../base/logger.ts'
import type { Random } from '../../base/random.ts'
import {
  type Client,
  type Transport,
  Watcher,
  configmaps,
  isAlreadyExists,
  isConflict,
  isNotFound,
} from '../../client/index.ts'
import type { FaultPlan } from './fault-plan.ts'
import { type FaultRule, asFaultRule } from './fault-rule.ts'

/** The ConfigMap of the cluster's fault plan, with one key per fault. All nodes of the cluster follow it. */
const planNamespace = 'kube-system'
const planName = 'coxswain-faults'

/** The rules of a ConfigMap, and the errors of invalid entries. */
async function rulesOf(map: ConfigMap | undefined): Promise<{ rules: FaultRule[]; problems: string[] }> {
  const rules: FaultRule[] = []
  const problems: string[] = []
  for (const [name, text] of Object.entries(map?.data ?? {})) {
    try {
      rules.push(asFaultRule(parseYaml(text).value, `data[${name}]`, name))
    } catch (e) {
      problems.push(e instanceof Error ? e.message : String(e))
    }
  }
  return { rules, problems }
}

/** Keeps a plan equal to the cluster's ConfigMap until the returned function is called. */
export function followClusterPlan(
  plan: FaultPlan,
  options: { transport: Transport; clock: Clock; random: Random; logger: Logger },
): () => void {
  let newest: ConfigMap | undefined
  const take = async (map: ConfigMap | undefined) => {
    newest = map
    const { rules, problems } = await rulesOf(map)
    if (newest !== map) return
    for (const problem of problems) options.logger.warn("ignoring an invalid fault of the cluster's plan", { problem })
    plan.replace(rules)
  }
  const watcher = new Watcher<ConfigMap>({
    ...options,
    type: configmaps,
    namespace: planNamespace,
    fieldSelector: `metadata.name=${planName}`,
    listener: {
      replace: (maps) => void take([...maps.values()][0]),
      change: (type, map) => void take(type === 'DELETED' ? undefined : map),
      bookmark() {},
    },
  })
  watcher.start()
  return () => watcher.stop()
}

/** Lists the faults of the cluster's plan. */
export async function listFaults(client: Client): Promise<{ rules: FaultRule[]; problems: string[] }> {
  return rulesOf(await planOf(client))
}

/** Other clients may change the plan at the same time. */
const mostAttempts = 5

/** Adds faults to the cluster's plan: all or none. Rejects if a fault of the same name exists that has not expired. */
export async function addFaults(client: Client, rules: readonly FaultRule[], nowMs: number): Promise<void> {
  const data = Object.fromEntries(rules.map(({ name, ...rule }) => [name, `${JSON.stringify(rule)}\n`]))
  for (let attempt = 1; ; attempt++) {
    const plan = await planOf(client)
    await refuseTaken(plan, rules, nowMs)
    const metadata = { name: planName, namespace: planNamespace }
    try {
      // Writes the version in which none of the names existed.
      if (plan)
        await client.patch(
          configmaps,
          planNamespace,
          planName,
          { metadata: { resourceVersion: plan.metadata.resourceVersion }, data },
          { type: 'merge' },
        )
      else await client.create(configmaps, { metadata, data })
      return
    } catch (e) {
      if (!(isConflict(e) || isAlreadyExists(e) || isNotFound(e)) || attempt === mostAttempts) throw e
    }
  }
}

async function refuseTaken(plan: ConfigMap | undefined, rules: readonly FaultRule[], nowMs: number): Promise<void> {
  const taken = rules.find(({ name }) => Object.hasOwn(plan?.data ?? {}, name))?.name
  if (taken === undefined) return
  const known = (await rulesOf(plan)).rules.find(({ name }) => name === taken)
  const isOver = known?.until !== undefined && Date.parse(known.until) <= nowMs
  const rest = rules.filter(({ name }) => name !== taken)
  if (isOver) return refuseTaken(plan, rest, nowMs)
  const what = known ? ` (stage ${known.stage})` : ''
  throw new Error(
    `fault "${taken}"${what} already exists: choose another name, or first remove it with: coxswain fault clear ${taken}`,
  )
}

/** Removes faults from the cluster's plan, or all of them without names. Resolves with the removed names. */
export async function clearFaults(client: Client, names: readonly string[]): Promise<string[]> {
  const there = Object.keys((await planOf(client))?.data ?? {})
  const missing = names.find((name) => !there.includes(name))
  if (missing !== undefined) throw new Error(`fault ${missing} not found`)
  const cleared = names.length > 0 ? [...names] : there
  if (cleared.length > 0)
    await client.patch(
      configmaps,
      planNamespace,
      planName,
      { data: Object.fromEntries(cleared.map((name) => [name, null])) },
      { type: 'merge' },
    )
  return cleared
}

async function planOf(client: Client): Promise<ConfigMap | undefined> {
  try {
    return await client.get(configmaps, planNamespace, planName)
  } catch (e) {
    if (!isNotFound(e)) throw e
    return undefined
  }
}
