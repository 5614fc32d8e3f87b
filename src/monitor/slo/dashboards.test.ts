import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { parseYaml } from '../../api/json/yaml.ts'
import { MetricsRegistry } from '../../base/metrics.ts'
import { VirtualClock } from '../../base/virtual-clock.ts'
import { SandboxHistograms } from '../sandbox-histograms.ts'
import { grafanaDashboard } from './grafana-dashboard.ts'
import { operatorObjects } from './operator-objects.ts'
import { prometheusRules } from './prometheus-rules.ts'
import { SloConsumer } from './slo-consumer.ts'
import { parseSlos } from './slo-file.ts'
import { fact } from './sample.ts'

const example = async () => parseSlos(await readFile(new URL('../../../examples/slo.yaml', import.meta.url), 'utf8'))
const metricsIn = (expressions: string[]) => new Set(expressions.flatMap((expr) => expr.match(/\bcoxswain_[a-z_]+\b(?=[{[])/g) ?? []))

async function servedMetrics(): Promise<Set<string>> {
  const metrics = new MetricsRegistry()
  new SloConsumer(await example(), new VirtualClock(), metrics).report()
  const histograms = new SandboxHistograms({ groupBy: [], bounds: [1], maxGroups: 1, nowMs: () => 0 }, metrics)
  for (const kind of ['created', 'recreated', 'terminated'] as const) histograms.observe(fact({ kind }))
  return new Set([...metrics.text().matchAll(/^(?:# TYPE )?([a-z_]+)/gm)].map(([, name]) => name!))
}

interface Rules {
  groups: { name: string; rules: { record?: string; alert?: string; expr: string }[] }[]
}

describe('what is generated for others', () => {
  it('asks only for metrics that the monitor serves, or that a rule records', async () => {
    const slos = await example()
    const { groups } = parseYaml(await prometheusRules(slos)).value as unknown as Rules
    const { panels } = JSON.parse(grafanaDashboard(slos)) as { panels: { targets?: { expr: string }[] }[] }
    const asked = metricsIn([...groups.flatMap(({ rules }) => rules.map(({ expr }) => expr)), ...panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))])
    const served = (await servedMetrics()).add('coxswain_monitor_blind')
    expect([...asked].filter((name) => !served.has(name))).toEqual([])
    expect(asked.size).toBeGreaterThan(5)
    const used = groups.flatMap(({ rules }) => rules.flatMap(({ expr }) => expr.match(/coxswain_slo:[a-z0-9_:]+/g) ?? []))
    const recorded = new Set(groups.flatMap(({ rules }) => rules.flatMap(({ record }) => record ?? [])))
    expect(used.filter((name) => !recorded.has(name))).toEqual([])
  })

  it('has a row of panels for each objective, none over another', async () => {
    const slos = await example()
    const { panels } = JSON.parse(grafanaDashboard(slos)) as { panels: { id: number; type: string; title: string; gridPos: Record<'x' | 'y' | 'w' | 'h', number> }[] }
    expect(panels.filter(({ type }) => type === 'row').map(({ title }) => title.split(':')[0])).toEqual(['All sandboxes', ...slos.map(({ name }) => name)])
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) => Array.from({ length: w * h }, (_, i) => `${x + (i % w)},${y + Math.floor(i / w)}`))
    expect(new Set(cells).size).toBe(cells.length)
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
  })

  it('reads rates over the interval of the data source, and is about the clusters and tenants that were chosen', async () => {
    const slos = (await example()).map((slo) => ({ ...slo, groupBy: ['namespace'] }))
    const { panels, templating } = JSON.parse(grafanaDashboard(slos)) as { panels: { targets?: { expr: string }[] }[]; templating: { list: { name: string }[] } }
    expect(templating.list.map(({ name }) => name)).toEqual(['datasource', 'cluster', 'tenant'])
    const expressions = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
    expect(expressions.filter((expr) => !expr.includes('cluster=~"$cluster"'))).toEqual([])
    expect(expressions.filter((expr) => /\[\d/.test(expr))).toEqual([])
    const grouped = expressions.filter((expr) => /_group_|_events_total|coxswain_pod_sandbox/.test(expr))
    expect(grouped.filter((expr) => !expr.includes('namespace=~"$tenant"'))).toEqual([])
  })

  it('is a PrometheusRule and a ServiceMonitor for the operator, with the same rules', async () => {
    const slos = await example()
    const text = await operatorObjects(slos, { namespace: 'observability', labels: { release: 'stack' }, cluster: 'eu-1' })
    const [rule, scrape] = (await Promise.all(text.split('---\n').map((text) => parseYaml(text)))).map(({ value }) => value)
    const metadata = { namespace: 'observability', labels: { release: 'stack' } }
    expect(rule).toMatchObject({ apiVersion: 'monitoring.coreos.com/v1', kind: 'PrometheusRule', metadata })
    expect((rule as unknown as { spec: Rules }).spec).toEqual(parseYaml(await prometheusRules(slos, { cluster: 'eu-1' })).value)
    expect(scrape).toMatchObject({
      kind: 'ServiceMonitor', metadata,
      spec: { endpoints: [{ scheme: 'https', honorLabels: true, tlsConfig: { serverName: 'coxswain-monitor.observability.svc' }, relabelings: [{ targetLabel: 'cluster', replacement: 'eu-1' }] }] },
    })
    const expressions = (rule as unknown as { spec: Rules }).spec.groups.flatMap(({ rules }) => rules.map(({ expr }) => expr))
    expect(expressions.filter((expr) => !expr.includes('cluster="eu-1"'))).toEqual([])
  })
})
