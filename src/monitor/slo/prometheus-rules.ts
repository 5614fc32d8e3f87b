import { type BurnAlert, burnAlerts, burnWindows, errorBudget, exact } from './burn-alerts.ts'
import { groupLabels } from '../groups.ts'
import { sentenceOf } from './sentence.ts'
import type { Slo } from './slo-file.ts'
import { printWindow } from './window.ts'

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
  /** The value of the label `cluster` that the rules are about; undefined: whatever there is, each cluster by itself. */
  cluster?: string | undefined
}

/** The name under which Prometheus keeps the share of bad events over a window. */
export const errorRatioName = (windowMs: number): string => `coxswain_slo:error_ratio:rate${printWindow(windowMs)}`

/** Recording and alerting rules for objectives, as Prometheus reads them. */
export async function prometheusRules(slos: readonly Slo[], options: RuleOptions = {}): Promise<string> {
  const { stringify } = await import('yaml')
  return stringify({ groups: ruleGroups(slos, options) }, { lineWidth: 0 })
}

/** The same as an object. Rules of a group are read in turn: an alert goes by what was recorded just before. */
export function ruleGroups(slos: readonly Slo[], { cluster }: RuleOptions = {}): RuleGroup[] {
  return [...slos.map((slo) => groupOf(slo, cluster)), { name: 'coxswain-monitor', rules: [blindMonitor(cluster)] }]
}

function groupOf(slo: Slo, cluster: string | undefined): RuleGroup {
  const recorded = burnWindows(slo).map((ms) => errorRatio(slo, ms, cluster))
  const alerts = burnAlerts(slo).map((alert) => burnAlert(slo, alert, cluster))
  return { name: `coxswain-slo-${slo.name}`, rules: [...recorded, budgetLeft(slo, cluster), ...alerts, notMeasured(slo, cluster)] }
}

const labelsOf = (labels: Record<string, string | undefined>): string =>
  `{${Object.entries(labels).flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${JSON.stringify(value)}`])).join(', ')}}`

/**
 * By the burn rate of the monitor, which counts events when they happened. A rate of its counter would not see the first
 * events of a group, nor tell events from a restart. Of several monitors the worst counts.
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
  const whose = groupLabels(slo.groupBy).map((label) => ` ${label}={{ $labels.${label} }}`).join('')
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
  annotations: { summary: `${slo.name}: nothing is heard of the monitor, so nobody would hear of a breach` },
})

/** A monitor that answers and hears nothing has burn rates that fall: it looks better than one that works. */
const blindMonitor = (cluster: string | undefined): Rule => ({
  alert: 'SloMonitorBlind',
  expr: `max by (cluster, instance, resource) (coxswain_monitor_blind${labelsOf({ cluster })}) > 0`,
  for: '5m',
  labels: { severity: 'ticket' },
  annotations: {
    summary: 'the monitor hears nothing of {{ $labels.resource }}, so nobody would hear of a breach',
    description: 'Its watch is stale or was never established. /readyz of the monitor says more; see docs/monitor.md.',
  },
})
