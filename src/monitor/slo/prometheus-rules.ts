import { groupLabels } from '../groups.ts'
import { printWindow } from './sliding-sums.ts'
import { type Slo, sentenceOf } from './slo-file.ts'

const hourMs = 3_600_000

export type Severity = 'page' | 'ticket'

/**
 * An alert fires if the budget burns `factor` times too fast over the long window, and still does over the short one.
 */
export interface BurnAlert {
  severity: Severity
  longMs: number
  shortMs: number
  /** A burn rate of 1 spends the whole budget in exactly the window of the objective. */
  factor: number
}

/** The part of the budget after which an alert fires: the figures of the SRE workbook, chapter 5. */
const shares: (Omit<BurnAlert, 'factor'> & { budgetShare: number })[] = [
  { severity: 'page', longMs: hourMs, shortMs: hourMs / 12, budgetShare: 0.02 },
  { severity: 'page', longMs: 6 * hourMs, shortMs: hourMs / 2, budgetShare: 0.05 },
  { severity: 'ticket', longMs: 72 * hourMs, shortMs: 6 * hourMs, budgetShare: 0.1 },
]

/** Without floating point noise: 0.001, not 0.0010000000000000009. */
export const exact = (value: number): number => (Number.isInteger(value) ? value : Number(value.toPrecision(12)))

/** The fraction of events that may be bad. */
export const errorBudget = ({ objectivePercent }: Pick<Slo, 'objectivePercent'>): number =>
  exact((100 - objectivePercent) / 100)

/**
 * The burn rates at which alerts of an objective fire. Alerts that could never fire are omitted, because at most all
 * events can be bad.
 */
export function burnAlerts(slo: Pick<Slo, 'objectivePercent' | 'windowMs'>): BurnAlert[] {
  return shares
    .filter(({ longMs }) => longMs <= slo.windowMs)
    .map(({ budgetShare, ...alert }) => ({
      ...alert,
      factor: exact(Math.max(1, (budgetShare * slo.windowMs) / alert.longMs)),
    }))
    .filter(({ factor }) => factor * errorBudget(slo) < 1)
}

/** All windows of the burn rate of an objective, its own last. */
export function burnWindows({ windowMs }: Pick<Slo, 'windowMs'>): number[] {
  const windows = new Set(shares.flatMap(({ longMs, shortMs }) => [shortMs, longMs]).filter((ms) => ms < windowMs))
  return [...windows, windowMs].toSorted((a, b) => a - b)
}

interface Rule {
  record?: string
  alert?: string
  expr: string
  for?: string
  labels: Record<string, string>
  annotations?: Record<string, string>
}

export interface RuleGroup {
  name: string
  rules: Rule[]
}

export interface RuleOptions {
  /** The value of the label `cluster` that the rules select. Undefined for any, each cluster separately. */
  cluster?: string | undefined
}

/** The name of the recorded fraction of bad events over a window. */
const errorRatioName = (windowMs: number): string => `coxswain_slo:error_ratio:rate${printWindow(windowMs)}`

/** Recording and alerting rules for objectives, in Prometheus' format. */
export async function prometheusRules(slos: readonly Slo[], options: RuleOptions = {}): Promise<string> {
  const { stringify } = await import('yaml')
  return stringify({ groups: ruleGroups(slos, options) }, { lineWidth: 0 })
}

/** The same as an object. Rules of a group are evaluated in order, so an alert uses the value recorded just before. */
export function ruleGroups(slos: readonly Slo[], { cluster }: RuleOptions = {}): RuleGroup[] {
  return [...slos.map((slo) => groupOf(slo, cluster)), { name: 'coxswain-monitor', rules: [blindMonitor(cluster)] }]
}

function groupOf(slo: Slo, cluster: string | undefined): RuleGroup {
  const recorded = burnWindows(slo).map((ms) => errorRatio(slo, ms, cluster))
  const alerts = burnAlerts(slo).map((alert) => burnAlert(slo, alert, cluster))
  return {
    name: `coxswain-slo-${slo.name}`,
    rules: [...recorded, budgetLeft(slo, cluster), ...alerts, notMeasured(slo, cluster)],
  }
}

const labelsOf = (labels: Record<string, string | undefined>): string =>
  `{${Object.entries(labels)
    .flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${JSON.stringify(value)}`]))
    .join(', ')}}`

/**
 * Alerts use the burn rate of the monitor, which counts events at the time when they happened. A rate of its counter
 * would miss the first events of a group, and could not distinguish events from a restart. Of several monitors the
 * worst counts.
 */
function errorRatio(slo: Slo, windowMs: number, cluster: string | undefined): Rule {
  const groups = groupLabels(slo.groupBy)
  const metric = groups.length > 0 ? 'coxswain_slo_group_burn_rate' : 'coxswain_slo_burn_rate'
  const of = labelsOf({ slo: slo.name, window: printWindow(windowMs), cluster })
  return {
    record: errorRatioName(windowMs),
    expr: `max by (${['cluster', 'slo', ...groups].join(', ')}) (${metric}${of}) * ${errorBudget(slo)}`,
    labels: { slo: slo.name },
  }
}

const recordedRatio = (slo: Slo, windowMs: number, cluster: string | undefined): string =>
  `${errorRatioName(windowMs)}${labelsOf({ slo: slo.name, cluster })}`

const budgetLeft = (slo: Slo, cluster: string | undefined): Rule => ({
  record: 'coxswain_slo:error_budget_remaining:ratio',
  expr: `1 - ${recordedRatio(slo, slo.windowMs, cluster)} / ${errorBudget(slo)}`,
  labels: { slo: slo.name },
})

function burnAlert(slo: Slo, { severity, longMs, shortMs, factor }: BurnAlert, cluster: string | undefined): Rule {
  const above = (windowMs: number) => `${recordedRatio(slo, windowMs, cluster)} > ${exact(factor * errorBudget(slo))}`
  const long = printWindow(longMs)
  const whose = groupLabels(slo.groupBy)
    .map((label) => ` ${label}={{ $labels.${label} }}`)
    .join('')
  return {
    alert: 'SloErrorBudgetBurn',
    expr: `${above(longMs)} and ${above(shortMs)}`,
    labels: { severity, slo: slo.name, window: long },
    annotations: {
      summary: `${slo.name}:${whose} the error budget burns more than ${exact(factor)} times too fast`,
      description: `{{ $value | humanizePercentage }} of the events of the last ${long} were bad. The objective: ${sentenceOf(slo)}.`,
    },
  }
}

const notMeasured = (slo: Slo, cluster: string | undefined): Rule => ({
  alert: 'SloNotMeasured',
  expr: `absent(coxswain_slo_objective_ratio${labelsOf({ slo: slo.name, cluster })})`,
  for: '10m',
  labels: { severity: 'ticket', slo: slo.name },
  annotations: { summary: `${slo.name}: the monitor reports nothing, so breaches are not detected` },
})

/** A monitor without events has falling burn rates, and looks better than one that works. */
const blindMonitor = (cluster: string | undefined): Rule => ({
  alert: 'SloMonitorBlind',
  expr: `max by (cluster, instance, resource) (coxswain_monitor_blind${labelsOf({ cluster })}) > 0`,
  for: '5m',
  labels: { severity: 'ticket' },
  annotations: {
    summary: 'the monitor has no current watch of {{ $labels.resource }}, so breaches are not detected',
    description: 'Its watch is stale or was never established. /readyz of the monitor says more; see docs/monitor.md.',
  },
})
