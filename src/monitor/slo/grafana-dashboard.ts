import { burnAlerts, burnWindows, errorBudget, exact } from './prometheus-rules.ts'
import { groupLabels } from '../groups.ts'
import { type Slo, sentenceOf } from './slo-file.ts'
import { printWindow } from './sliding-sums.ts'

const datasource = { type: 'prometheus', uid: '${datasource}' }

interface Place {
  x: number
  y: number
  w: number
  h: number
}

interface Target {
  expr: string
  legend: string
}

interface Look {
  unit: 'percentunit' | 'none' | 'short' | 's'
  /** The colours by ascending thresholds. The first has none. */
  steps?: { color: string; value: number | null }[]
  decimals?: number
}

/**
 * A Grafana dashboard of objectives, as JSON to import. It queries the monitor's own metrics, and works without rules.
 */
export function grafanaDashboard(slos: readonly Slo[]): string {
  const rows = [...everything(), ...slos.flatMap((slo, i) => rowOf(slo, everythingHeight + i * rowHeight))]
  const panels = rows.map((panel, i) => ({ id: i + 1, ...panel }))
  const dashboard = {
    title: 'Sandbox objectives',
    uid: 'coxswain-slo',
    tags: ['coxswain', 'slo'],
    schemaVersion: 38,
    editable: true,
    refresh: '30s',
    time: { from: 'now-6h', to: 'now' },
    templating: {
      list: [{ name: 'datasource', label: 'Data source', type: 'datasource', query: 'prometheus' }, ...variables],
    },
    panels,
  }
  return `${JSON.stringify(dashboard, undefined, 2)}\n`
}

/** All values are selected initially: `.*` also matches series without the label. */
const variable = (name: string, label: string, query: string) => ({
  name,
  label,
  type: 'query',
  datasource,
  query: { query, refId: name },
  definition: query,
  refresh: 2,
  sort: 1,
  multi: true,
  includeAll: true,
  allValue: '.*',
  current: { text: ['All'], value: ['$__all'] },
})

const variables = [
  variable('cluster', 'Cluster', 'label_values(coxswain_monitor_blind, cluster)'),
  variable(
    'tenant',
    'Tenant',
    'label_values(coxswain_pod_sandbox_creation_failures_total{cluster=~"$cluster"}, namespace)',
  ),
]

const ofCluster = 'cluster=~"$cluster"'
const ofTenant = `${ofCluster}, namespace=~"$tenant"`

const everythingHeight = 9
const rowHeight = 17

const rowTitle = (title: string, y: number) => ({
  type: 'row',
  title,
  collapsed: false,
  gridPos: { x: 0, y, w: 24, h: 1 },
  panels: [],
})

/** The metrics of all sandboxes, independent of objectives. */
function everything(): Record<string, unknown>[] {
  const quantile = (share: number, of: string) =>
    `histogram_quantile(${share}, sum by (le) (rate(coxswain_pod_sandbox_${of}_duration_seconds_bucket{${ofTenant}}[$__rate_interval])))`
  const perSecond = (counter: string) =>
    `sum(rate(coxswain_pod_sandbox_${counter}_total{${ofTenant}}[$__rate_interval]))`
  return [
    rowTitle('All sandboxes', 0),
    panel(
      'timeseries',
      'Latencies',
      { x: 0, y: 1, w: 12, h: 8 },
      [
        { expr: quantile(0.5, 'creation'), legend: 'half are ready within' },
        { expr: quantile(0.99, 'creation'), legend: '99% are ready within' },
        { expr: quantile(0.99, 'termination'), legend: '99% are gone within' },
      ],
      { unit: 's' },
    ),
    panel(
      'timeseries',
      'Failures per second',
      { x: 12, y: 1, w: 12, h: 8 },
      [
        { expr: perSecond('creation_failures'), legend: 'not ready in time' },
        { expr: perSecond('creations_abandoned'), legend: 'deleted or evicted early' },
        { expr: perSecond('recreations'), legend: 'lost and re-created' },
        { expr: perSecond('user_errors'), legend: 'errors of users' },
      ],
      { unit: 'short' },
    ),
  ]
}

function rowOf(slo: Slo, y: number): Record<string, unknown>[] {
  const groups = groupLabels(slo.groupBy)
  const whole = `slo="${slo.name}", ${ofCluster}`
  const grouped = groups.includes('namespace') ? `slo="${slo.name}", ${ofTenant}` : whole
  const part = groups.length > 0 ? 'group_' : ''
  const legend = groups.length > 0 ? groups.map((name) => `{{${name}}}`).join(' ') : slo.name
  const objective = exact(slo.objectivePercent / 100)
  const perSecond = (outcome: string) =>
    `sum by (${['slo', ...groups].join(', ')}) (rate(coxswain_slo_events_total{${grouped}, outcome="${outcome}"}[$__rate_interval]))`
  return [
    rowTitle(`${slo.name}: ${sentenceOf(slo)}`, y),
    panel(
      'stat',
      'Compliance',
      {
        x: 0,
        y: y + 1,
        w: 4,
        h: 4,
      },
      [{ expr: `coxswain_slo_compliance_ratio{${whole}}`, legend: slo.name }],
      {
        unit: 'percentunit',
        decimals: 3,
        steps: [
          { color: 'red', value: null },
          { color: 'green', value: objective },
        ],
      },
    ),
    panel(
      'stat',
      'Error budget left',
      {
        x: 0,
        y: y + 5,
        w: 4,
        h: 4,
      },
      [{ expr: `coxswain_slo_error_budget_remaining_ratio{${whole}}`, legend: slo.name }],
      {
        unit: 'percentunit',
        decimals: 1,
        steps: [
          { color: 'red', value: null },
          { color: 'orange', value: 0 },
          { color: 'green', value: 0.25 },
        ],
      },
    ),
    panel(
      'timeseries',
      'Burn rate',
      { x: 4, y: y + 1, w: 10, h: 8 },
      burnWindows(slo).map((ms) => ({
        expr: `coxswain_slo_burn_rate{${whole}, window="${printWindow(ms)}"}`,
        legend: printWindow(ms),
      })),
      { unit: 'none', steps: burnSteps(slo) },
    ),
    panel(
      'timeseries',
      'Error budget left over time',
      { x: 14, y: y + 1, w: 10, h: 8 },
      [{ expr: `coxswain_slo_${part}error_budget_remaining_ratio{${grouped}}`, legend }],
      { unit: 'percentunit' },
    ),
    panel(
      'timeseries',
      'Good and bad events per second',
      {
        x: 0,
        y: y + 9,
        w: 12,
        h: 8,
      },
      ['good', 'bad'].map((outcome) => ({
        expr: perSecond(outcome),
        legend: groups.length > 0 ? `${outcome} ${legend}` : outcome,
      })),
      { unit: 'short' },
    ),
    panel(
      'timeseries',
      `Bad events of the last hour, ${printPercent(errorBudget(slo))} may be`,
      {
        x: 12,
        y: y + 9,
        w: 12,
        h: 8,
      },
      [{ expr: `coxswain_slo_${part}burn_rate{${grouped}, window="1h"} * ${errorBudget(slo)}`, legend }],
      {
        unit: 'percentunit',
        steps: [
          { color: 'green', value: null },
          { color: 'red', value: errorBudget(slo) },
        ],
      },
    ),
  ]
}

const printPercent = (share: number) => `${exact(share * 100)}%`

const burnSteps = (slo: Slo): Look['steps'] => [
  { color: 'green', value: null },
  ...burnAlerts(slo)
    .toSorted((a, b) => a.factor - b.factor)
    .map(({ severity, factor }) => ({ color: severity === 'page' ? 'red' : 'orange', value: factor })),
]

function panel(
  type: 'stat' | 'timeseries',
  title: string,
  gridPos: Place,
  targets: Target[],
  { unit, decimals, steps }: Look,
): Record<string, unknown> {
  const custom = type === 'timeseries' ? { custom: { thresholdsStyle: { mode: steps ? 'line' : 'off' } } } : {}
  const thresholds = steps
    ? { thresholds: { mode: 'absolute', steps }, ...(type === 'stat' ? { color: { mode: 'thresholds' } } : {}) }
    : {}
  return {
    type,
    title,
    datasource,
    gridPos,
    targets: targets.map(({ expr, legend }, i) => ({
      refId: String.fromCharCode(65 + i),
      datasource,
      expr,
      legendFormat: legend,
    })),
    fieldConfig: {
      defaults: { unit, ...(decimals === undefined ? {} : { decimals }), ...thresholds, ...custom },
      overrides: [],
    },
  }
}
