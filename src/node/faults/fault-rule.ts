import { parseYaml } from '../../api/json/yaml.ts'
import { parseLabelSelector } from '../../api/selectors/parse-label-selector.ts'
import { parseDuration } from '../../base/duration.ts'
import type { Stage } from '../faults.ts'
import { isFields } from '../../api/object.ts'

/** The stages of fault plans. Some are parts of a node's stage, with their own messages. */
export const stageNames = {
  volumes: 'volumes',
  csi: 'csi',
  network: 'network',
  ipam: 'network',
  sandbox: 'sandbox',
  'runtime-handler': 'sandbox',
  'sandbox-crash': 'sandbox-crash',
  image: 'image',
  container: 'container',
  heartbeat: 'heartbeat',
  'memory-pressure': 'memory-pressure',
  'disk-pressure': 'disk-pressure',
  'pid-pressure': 'pid-pressure',
} as const satisfies Record<string, Stage>
export type StageName = keyof typeof stageNames

/** Stages that concern the node itself and not a pod. They are on or off. */
const nodeStages: ReadonlySet<StageName> = new Set(['heartbeat', 'memory-pressure', 'disk-pressure', 'pid-pressure'])

/** One fault of a plan. An undefined field does not narrow it. */
export interface FaultRule {
  name: string
  stage: StageName
  /** In names `*` matches any text. */
  pods?: { namespace?: string; name?: string; selector?: string }
  nodes?: string
  container?: string
  /** For `csi`: the driver of the volume. `*` matches any text. */
  driver?: string
  /** The additional duration of the stage: `9s`. */
  delay?: string
  /** The stage fails, with this message or with its default message. */
  fail?: string | true
  /** The number of occurrences per pod or node. */
  times?: number
  /** The probability of an occurrence: 0.1 is one in ten. */
  chance?: number
  /** Start and duration of the fault, counted from the time at which the plan was read. */
  after?: string
  for?: string
  /** The latest end of the fault. */
  until?: string
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''
const isDuration = (value: unknown) => isText(value) && parseDuration(value) !== undefined

const checks: Record<string, (value: unknown) => string | undefined> = {
  name: (v) => (isText(v) && /^[-._a-zA-Z0-9]+$/.test(v) ? undefined : 'must be of letters, digits, "-", "_" and "."'),
  stage: (v) =>
    isText(v) && Object.hasOwn(stageNames, v) ? undefined : `must be one of ${Object.keys(stageNames).join(', ')}`,
  pods: podsProblem,
  nodes: (v) => (isText(v) ? undefined : 'must be a name, with "*" for anything'),
  container: (v) => (isText(v) ? undefined : 'must be a name'),
  driver: (v) => (isText(v) ? undefined : 'must be a name, with "*" for anything'),
  delay: durationProblem,
  fail: (v) => (v === true || isText(v) ? undefined : 'must be true or a message'),
  times: (v) => (Number.isInteger(v) && (v as number) > 0 ? undefined : 'must be a number greater than 0'),
  chance: (v) => (typeof v === 'number' && v > 0 && v <= 1 ? undefined : 'must be greater than 0 and at most 1'),
  after: durationProblem,
  for: durationProblem,
  until: (v) => (isText(v) && !Number.isNaN(Date.parse(v)) ? undefined : 'must be a time like 2026-01-31T12:00:00Z'),
}

function durationProblem(value: unknown): string | undefined {
  return isDuration(value) ? undefined : 'must be a duration like 9s or 1m30s'
}

function podsProblem(value: unknown): string | undefined {
  if (!isFields(value)) return 'must be a map of namespace, name and selector'
  const wrong = Object.entries(value).find(([key, v]) => !['namespace', 'name', 'selector'].includes(key) || !isText(v))
  if (wrong) return `${wrong[0]}: must be one of namespace, name and selector, and text`
  try {
    parseLabelSelector((value['selector'] as string | undefined) ?? '')
    return undefined
  } catch (e) {
    return `selector: ${e instanceof Error ? e.message : String(e)}`
  }
}

/** Validates one rule. Throws an error that names the field. */
export function asFaultRule(value: unknown, path: string, name?: string): FaultRule {
  if (!isFields(value)) throw new Error(`${path}: must be a map`)
  const rule: Record<string, unknown> = { ...(name === undefined ? {} : { name }), ...value }
  for (const [key, v] of Object.entries(rule)) {
    const problem = Object.hasOwn(checks, key) ? checks[key]!(v) : 'is not a field of a fault'
    if (problem) throw new Error(`${path}.${key}: ${problem}`)
  }
  if (rule['stage'] === undefined) throw new Error(`${path}.stage: ${checks['stage']!(undefined)}`)
  if (rule['delay'] === undefined && rule['fail'] === undefined)
    throw new Error(`${path}: needs a delay, or fail, or both`)
  if (rule['driver'] !== undefined && rule['stage'] !== 'csi')
    throw new Error(`${path}.driver: only volumes have one, at the stage csi`)
  if (nodeStages.has(rule['stage'] as StageName) && rule['fail'] === undefined)
    throw new Error(`${path}: a ${rule['stage'] as string} can only fail`)
  return rule as unknown as FaultRule
}

/** Parses a plan: YAML with a list `faults`. A rule without a name is named after its stage. */
export async function parseFaults(text: string): Promise<FaultRule[]> {
  const { value } = parseYaml(text)
  if (!isFields(value) || !Array.isArray(value['faults'])) throw new Error('a fault plan is a map with a list "faults"')
  const rules: FaultRule[] = []
  for (const [index, entry] of (value['faults'] as unknown[]).entries()) {
    const rule = asFaultRule(entry, `faults[${index}]`, freeName(entry, rules))
    if (rules.some((r) => r.name === rule.name)) throw new Error(`faults[${index}].name: ${rule.name} is there already`)
    rules.push(rule)
  }
  return rules
}

function freeName(entry: unknown, taken: readonly FaultRule[]): string {
  const stage = isFields(entry) && isText(entry['stage']) ? entry['stage'] : 'fault'
  for (let n = 1; ; n++) {
    const name = n === 1 ? stage : `${stage}-${n}`
    if (!taken.some((r) => r.name === name)) return name
  }
}
