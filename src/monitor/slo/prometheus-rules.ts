import { type BurnAlert, burnAlerts, burnWindows, errorBudget, exact } from './burn-alerts.ts'
import { groupLabels } from '../groups.ts'
import { sentenceOf } from './sentence.ts'
import type { Slo } from './slo-file.ts'
import { printWindow } from './window.ts'

/** Past this a window is read anew every two minutes only: it is long to read, and slow to change. */
const quickMs = 6 * 3_600_000

interface Rule {
  record?: string
  alert?: string
  expr: string
  for?: string
  labels: Record<string, string>
  annotations?: Record<string, string>
}

interface RuleGroup {
  name: string
  interval?: string
  rules: Rule[]
}

/** The name under which Prometheus keeps the share of bad events over a window. */
export const errorRatioName = (windowMs: number): string => `coxswain_slo:error_ratio:rate${printWindow(windowMs)}`

/** Recording and alerting rules for objectives, as Prometheus reads them. */
export async function prometheusRules(slos: readonly Slo[]): Promise<string> {
  const { stringify } = await import('yaml')
  return stringify({ groups: slos.flatMap(groupsOf) }, { lineWidth: 0 })
}

function groupsOf(slo: Slo): RuleGroup[] {
  const windows = burnWindows(slo)
  const recorded = (wanted: (ms: number) => boolean) => windows.filter(wanted).map((ms) => errorRatio(slo, ms))
  const alerts = [...burnAlerts(slo).map((alert) => burnAlert(slo, alert)), notMeasured(slo)]
  return [
    { name: `coxswain-slo-${slo.name}-long`, interval: '2m', rules: [...recorded((ms) => ms > quickMs), budgetLeft(slo)] },
    // In one group, whose rules are read in turn: an alert goes by what was recorded just before.
    { name: `coxswain-slo-${slo.name}`, rules: [...recorded((ms) => ms <= quickMs), ...alerts] },
  ]
}

function errorRatio(slo: Slo, windowMs: number): Rule {
  const by = ['slo', ...groupLabels(slo.groupBy)].join(', ')
  const rate = (labels: string) => `sum by (${by}) (rate(coxswain_slo_events_total{slo="${slo.name}"${labels}}[${printWindow(windowMs)}]))`
  return { record: errorRatioName(windowMs), expr: `${rate(', outcome="bad"')} / ${rate('')}`, labels: { slo: slo.name } }
}

const budgetLeft = (slo: Slo): Rule => ({
  record: 'coxswain_slo:error_budget_remaining:ratio',
  expr: `1 - ${errorRatioName(slo.windowMs)}{slo="${slo.name}"} / ${errorBudget(slo)}`,
  labels: { slo: slo.name },
})

function burnAlert(slo: Slo, { severity, longMs, shortMs, factor }: BurnAlert): Rule {
  const above = (windowMs: number) => `${errorRatioName(windowMs)}{slo="${slo.name}"} > ${exact(factor * errorBudget(slo))}`
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

const notMeasured = (slo: Slo): Rule => ({
  alert: 'SloNotMeasured',
  expr: `absent(coxswain_slo_objective_ratio{slo="${slo.name}"})`,
  for: '10m',
  labels: { severity: 'ticket', slo: slo.name },
  annotations: { summary: `${slo.name}: nothing is heard of the monitor, so nobody would hear of a breach` },
})
