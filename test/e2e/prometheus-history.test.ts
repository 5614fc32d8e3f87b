import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import type { MetricsRegistry } from '../../src/base/metrics.ts'
import { type MonitoringDoor, openMonitoringDoor } from '../../src/cluster/serving/monitoring-door.ts'
import type { SloReport } from '../../src/monitor/index.ts'
import { Health } from '../../src/server/index.ts'
import { History, objectives } from '../integration/monitor/history.ts'
import { judgePod } from '../integration/monitor/trail-oracle.ts'
import { runCoxswain } from '../kubectl/coxswain.ts'

// A real Prometheus, `coxswain slo` and an oracle of the pods' versions say the same of 2,000 pods. The history has a
// clock of its own; Prometheus scrapes what the monitor says meanwhile.

let dir: string
let history: History
let door: MonitoringDoor
let prometheus: ChildProcess | undefined
let port: number

beforeAll(async () => {
  dir = mkdtempSync(path.join(tmpdir(), 'coxswain-history-'))
  history = await History.start(2026)
  // Whatever monitor there is: another one takes its place at each restart.
  const metrics = { bytes: (turns) => history.metrics.bytes(turns) } as MetricsRegistry
  const pages = { '/slo': () => ({ type: 'application/json', body: history.page }) }
  door = await openMonitoringDoor({ address: '127.0.0.1', port: 0, health: new Health([], []), metrics, pages, clock: systemClock, serving: { kind: 'plain' } })
  writeFileSync(path.join(dir, 'slo.yaml'), objectives)
  writeFileSync(path.join(dir, 'rules.yaml'), (await runCoxswain(['monitor', 'rules', path.join(dir, 'slo.yaml')])).out)
  port = await freePort()
  const config = {
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: ['rules.yaml'],
    scrape_configs: [{ job_name: 'coxswain', honor_labels: true, static_configs: [{ targets: [new URL(door.url).host] }] }],
  }
  writeFileSync(path.join(dir, 'prometheus.yml'), JSON.stringify(config))
  const flags = ['--config.file=prometheus.yml', '--storage.tsdb.path=tsdb', `--web.listen-address=127.0.0.1:${port}`, '--log.level=error']
  prometheus = spawn('prometheus', flags, { cwd: dir, stdio: ['ignore', 'ignore', 'inherit'] })
})

afterAll(async () => {
  const ended = new Promise((resolve) => prometheus?.once('close', resolve))
  if (prometheus?.kill()) await ended
  await door?.close()
  await history?.stop()
  rmSync(dir, { recursive: true, force: true })
})

interface Answer {
  data: { result: { metric: Record<string, string>; value: [number, string] }[] }
}

const query = (promql: string): Promise<Answer['data']['result'] | undefined> =>
  fetch(`http://127.0.0.1:${port}/api/v1/query?query=${encodeURIComponent(promql)}`)
    .then(async (answer) => ((await answer.json()) as Answer).data.result, () => undefined)
const values = async (promql: string): Promise<number[] | undefined> => (await query(promql))?.map(({ value }) => Number(value[1]))

it('an alert fires for a group whose first three events are bad', async () => {
  await expect.poll(() => values('up{job="coxswain"}'), { timeout: 40_000 }).toEqual([1])
  await history.beginBadly('violet')
  await expect.poll(() => values('coxswain_slo_events_total{slo="ready", outcome="bad", namespace="violet"}'), { timeout: 40_000 }).toEqual([3])
  const firing = 'count(ALERTS{alertname="SloErrorBudgetBurn", alertstate="firing", namespace="violet", severity="page"})'
  await expect.poll(() => values(firing), { timeout: 40_000 }).toEqual([2])
})

it('Prometheus, coxswain slo and the versions of 2,000 pods say the same', async () => {
  await history.run(2000, 3000)
  const { trails, absences, clock, restarts } = history
  const verdicts = [...trails.values()].map((trail) => judgePod(trail, absences, { thresholdMs: 10_000, timeoutMs: 300_000 }, clock.now()))
  const bad = verdicts.filter((verdict) => verdict === 'bad').length
  const good = verdicts.filter((verdict) => verdict === 'good').length
  expect([trails.size, restarts > 10, bad > 500, good > 300]).toEqual([2003, true, true, true])
  const { code, out } = await runCoxswain(['slo', 'ready', '--monitor', door.url, '-o', 'json'])
  expect(code).toBe(0)
  expect((JSON.parse(out) as SloReport).slos[0]).toMatchObject({ events: bad + good, bad })
  await expect.poll(() => values('sum(coxswain_slo_events_total{slo="ready", outcome="bad"})'), { timeout: 40_000 }).toEqual([bad])
  expect(await values('sum(coxswain_slo_events_total{slo="ready", outcome="good"})')).toEqual([good])
}, 120_000)

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const holder = createServer().listen(0, '127.0.0.1', () => {
      const { port: free } = holder.address() as { port: number }
      holder.close(() => resolve(free))
    })
  })
