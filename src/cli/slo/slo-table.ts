import { printDuration } from '../../base/duration.ts'
import type { SloReport, SloStatus } from '../../cluster/index.ts'
import { latencyChart, quantileText } from './latency-chart.ts'

type Standing = SloStatus['groups'][number] | SloStatus

const percent = (share: number, digits: number) => `${(share * 100).toFixed(digits)}%`

/** Returns the state of an objective in one word. */
function stateOf({ alert, errorBudgetRemaining, events }: Standing): string {
  if (alert !== null) return alert
  if (errorBudgetRemaining < 0) return 'missed'
  return events === 0 ? 'no events' : 'ok'
}

/** Windows with a column of burn rates, if an objective has them. */
const windows = ['5m', '30m', '1h', '6h', '3d']

const cells = (name: string, objective: string, window: string, standing: Standing): string[] => [
  name,
  objective,
  window,
  String(standing.events),
  String(standing.bad),
  standing.compliance === null ? '-' : percent(standing.compliance, 2),
  percent(standing.errorBudgetRemaining, 1),
  ...windows.map((w) => standing.burnRates[w]?.toFixed(1) ?? '-'),
  stateOf(standing),
]

const header = [
  'NAME',
  'OBJECTIVE',
  'WINDOW',
  'EVENTS',
  'BAD',
  'COMPLIANCE',
  'BUDGET LEFT',
  ...windows.map((w) => `BURN ${w}`),
  'STATE',
]

const groupName = (labels: Record<string, string>) =>
  Object.entries(labels)
    .map(([name, value]) => `${name}=${value === '' ? '-' : value}`)
    .join(' ')

/** Formats a line per objective and per group, the worst first. */
export function sloTable({ slos }: SloReport): string[] {
  const rows = slos.flatMap((slo) => {
    const threshold = slo.thresholdSeconds === undefined ? '' : ` < ${printDuration(slo.thresholdSeconds * 1000)}`
    const groups = slo.groups.toSorted((a, b) => a.errorBudgetRemaining - b.errorBudgetRemaining)
    return [
      cells(slo.name, `${Number((slo.objective * 100).toPrecision(10))}%${threshold}`, slo.window, slo),
      ...groups.map((group) => cells(`  ${groupName(group.labels)}`, '', '', group)),
    ]
  })
  const widths = header.map((title, i) => Math.max(title.length, ...rows.map((row) => row[i]!.length)))
  return [header, ...rows].map((row) =>
    row
      .map((cell, i) => cell.padEnd(widths[i]!))
      .join('  ')
      .trimEnd(),
  )
}

/** Formats the latencies of an objective in one of its windows. */
export function sloChart(slo: SloStatus, window: string): string[] {
  const latencies = slo.latencies[window]
  if (!latencies) throw new Error(`--window: ${slo.name} has the windows ${Object.keys(slo.latencies).join(', ')}`)
  const quantiles = quantileText(latencies)
  return [
    `${slo.name}: ${slo.objectiveText}`,
    `  the last ${window}: ${latencies.events} events${quantiles ? `, ${quantiles}` : ''}`,
    ...latencyChart(latencies, slo.thresholdSeconds),
  ]
}
