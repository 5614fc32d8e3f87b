import { parseYaml } from '../../api/json/yaml.ts'
import { parseLabelSelector } from '../../api/selectors/parse-label-selector.ts'
import { parseDuration, printDuration } from '../../base/duration.ts'
import { type Group, groupForms, groupLabel } from '../groups.ts'
import { parseWindow, printWindow } from './sliding-sums.ts'
import { isFields } from '../../api/object.ts'

/** The indicators of a pod's sandbox. Some have a threshold. */
const indicators = {
  'creation-latency': { needsThreshold: true },
  'creation-success': { needsThreshold: false },
  'termination-latency': { needsThreshold: true },
} as const satisfies Record<string, { needsThreshold: boolean }>
export type Indicator = keyof typeof indicators

/** The selection of sandboxes. Missing fields select all. */
export interface SloSelector {
  namespaces?: string[]
  /** A label selector of pods, as for kubectl's `-l`. */
  labels?: string
  runtimeClasses?: string[]
  /** One of a pod's claims is enough. */
  storageClasses?: string[]
}

/** One objective of a file. */
export interface Slo {
  name: string
  description?: string
  indicator: Indicator
  /** The percentage of events that have to be good. */
  objectivePercent: number
  /** Smaller latencies are good. */
  thresholdMs?: number
  windowMs: number
  selector: SloSelector
  /** The groupings of the objective. Each group has a budget of its own. */
  groupBy: Group[]
  /** Groups beyond this number share one entry. */
  maxGroups: number
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''
const isList = (value: unknown): value is string[] => Array.isArray(value) && value.length > 0 && value.every(isText)

const shortestWindowMs = 3_600_000
const longestWindowMs = 366 * 24 * 3_600_000

type Check = (value: unknown) => string | undefined

const names: Check = (v) => (isList(v) ? undefined : 'must be a list of names')

const selectorFields: Record<keyof SloSelector, Check> = {
  namespaces: names,
  labels: labelsProblem,
  runtimeClasses: names,
  storageClasses: names,
}

const fields: Record<string, Check> = {
  name: (v) =>
    isText(v) && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(v)
      ? undefined
      : 'must be of lower case letters, digits and "-"',
  description: (v) => (isText(v) ? undefined : 'must be text'),
  indicator: (v) =>
    isText(v) && Object.hasOwn(indicators, v) ? undefined : `must be one of ${Object.keys(indicators).join(', ')}`,
  objective: (v) =>
    percentOf(v) === undefined ? 'must be a percentage such as 99.5, at least 1 and less than 100' : undefined,
  threshold: (v) => (isText(v) && parseDuration(v) ? undefined : 'must be a duration such as 5s or 500ms'),
  window: windowProblem,
  selector: () => undefined,
  groupBy: groupProblem,
  maxGroups: (v) =>
    Number.isInteger(v) && (v as number) >= 1 && (v as number) <= 1000 ? undefined : 'must be a number from 1 to 1000',
}

function groupProblem(value: unknown): string | undefined {
  const labels = isList(value) ? value.map(groupLabel) : [undefined]
  if (labels.includes(undefined)) return `must be a list of any of ${groupForms.join(', ')}`
  const twice = labels.find((label, i) => labels.indexOf(label) < i)
  return twice ? `two of them become ${twice} in metrics` : undefined
}

function percentOf(value: unknown): number | undefined {
  const percent =
    typeof value === 'number'
      ? value
      : isText(value) && /^\d+(\.\d+)?%$/.test(value)
        ? Number(value.slice(0, -1))
        : Number.NaN
  return percent >= 1 && percent < 100 ? percent : undefined
}

function windowProblem(value: unknown): string | undefined {
  const ms = isText(value) ? parseWindow(value) : undefined
  if (ms === undefined) return 'must be a length of time such as 30d, 4w or 12h'
  return ms < shortestWindowMs || ms > longestWindowMs ? 'must be from 1h to 366d' : undefined
}

function labelsProblem(value: unknown): string | undefined {
  if (!isText(value)) return 'must be a label selector such as app=web'
  try {
    parseLabelSelector(value)
    return undefined
  } catch (e) {
    return e instanceof Error ? e.message : String(e)
  }
}

/** Parses a file of objectives. Throws an error with one line per problem, each with its path. */
export async function parseSlos(text: string): Promise<Slo[]> {
  const { value, repeated } = parseYaml(text)
  const list = isFields(value) ? value['slos'] : undefined
  if (!isFields(value) || !Array.isArray(list) || list.length === 0) {
    throw new Error('a file of objectives is a map with a list "slos"')
  }
  const problems = [
    ...repeated,
    ...Object.keys(value)
      .filter((key) => key !== 'slos')
      .map((key) => `${key}: is not a field of the file`),
    ...list.flatMap((item, i) => problemsOf(item, `slos[${i}]`)),
    ...list.flatMap((item, i) => {
      const earlier =
        isFields(item) && isText(item['name'])
          ? list.findIndex((other) => isFields(other) && other['name'] === item['name'])
          : i
      return earlier < i ? [`slos[${i}].name: ${(item as { name: string }).name} is slos[${earlier}] already`] : []
    }),
  ]
  if (problems.length > 0) throw new Error(problems.join('\n'))
  return (list as Record<string, unknown>[]).map(sloOf)
}

/**
 * The problems of objectives with this creation timeout. A pod fails at the timeout: one that becomes ready between the
 * timeout and a later threshold would be bad although the file says that it is good.
 */
export const thresholdsPast = (slos: readonly Slo[], creationTimeoutMs: number): string[] =>
  slos.flatMap(({ indicator, thresholdMs = 0 }, i) =>
    indicator !== 'creation-latency' || thresholdMs <= creationTimeoutMs
      ? []
      : [
          `slos[${i}].threshold: ${printDuration(thresholdMs)} is more than the creation timeout of ${printDuration(creationTimeoutMs)}, after which a pod has failed`,
        ],
  )

function problemsOf(item: unknown, path: string): string[] {
  if (!isFields(item)) return [`${path}: must be a map`]
  const wrong = (map: Record<string, unknown>, checks: Record<string, Check>, at: string) =>
    Object.entries(map).flatMap(([key, value]) => {
      const problem = Object.hasOwn(checks, key)
        ? checks[key]!(value)
        : `is not a field; the fields are ${Object.keys(checks).join(', ')}`
      return problem ? [`${at}.${key}: ${problem}`] : []
    })
  const missing = ['name', 'indicator', 'objective', 'window']
    .filter((key) => !Object.hasOwn(item, key))
    .map((key) => `${path}.${key}: is required`)
  const selector = item['selector']
  const inSelector =
    selector === undefined
      ? []
      : isFields(selector)
        ? wrong(selector, selectorFields, `${path}.selector`)
        : [`${path}.selector: must be a map`]
  return [...missing, ...wrong(item, fields, path), ...inSelector, ...thresholdProblems(item, path)]
}

function thresholdProblems({ indicator, threshold }: Record<string, unknown>, path: string): string[] {
  if (!isText(indicator) || !Object.hasOwn(indicators, indicator)) return []
  const { needsThreshold } = indicators[indicator as Indicator]
  if (needsThreshold === (threshold !== undefined)) return []
  return [`${path}.threshold: ${needsThreshold ? 'is required' : 'has no meaning'} for ${indicator}`]
}

function sloOf(item: Record<string, unknown>): Slo {
  const { name, description, indicator, objective, threshold, window, selector, groupBy, maxGroups } = item
  return {
    name: name as string,
    ...(description === undefined ? {} : { description: description as string }),
    indicator: indicator as Indicator,
    objectivePercent: percentOf(objective)!,
    ...(threshold === undefined ? {} : { thresholdMs: parseDuration(threshold as string)! }),
    windowMs: parseWindow(window as string)!,
    selector: (selector ?? {}) as SloSelector,
    groupBy: (groupBy ?? []) as string[],
    maxGroups: (maxGroups ?? 100) as number,
  }
}

const words: Record<Indicator, string> = {
  'creation-latency': 'sandboxes are ready in less than',
  'creation-success': 'sandboxes get ready in time',
  'termination-latency': 'sandboxes are gone in less than',
}

/** An objective as a sentence: `99.5% of sandboxes are ready in less than 5s, over 30d`. */
export function sentenceOf({ objectivePercent, indicator, thresholdMs, windowMs }: Slo): string {
  const threshold = thresholdMs === undefined ? '' : ` ${printDuration(thresholdMs)}`
  return `${objectivePercent}% of ${words[indicator]}${threshold}, over ${printWindow(windowMs)}`
}
