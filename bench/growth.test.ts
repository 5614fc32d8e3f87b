import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Api } from './growth/api.ts'
import { kindNames, kinds } from './growth/kinds.ts'
import { Limit } from './growth/limit.ts'
import type { Load, PhaseName } from './growth/phases.ts'
import { type Figure, Report } from './growth/report.ts'
import { runLoad } from './growth/run.ts'
import { type InProcess, startInProcess } from './load/in-process.ts'
import { textOf } from './load/object-watch.ts'
import { readTarget } from './load/target.ts'

const nodes = 3
const images = { first: 'web:1', second: 'web:2', job: 'task:1' }
const phases: PhaseName[] = ['create', 'roll', 'scale']
const never = new Promise<never>(() => {})

/** Runs a bench as npm does, to its end. */
async function runBench(...args: string[]): Promise<{ code: number; figures: Figure[]; err: string }> {
  const child = spawn(process.execPath, ['scripts/run-ts.mjs', ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = once(child, 'exit')
  const [out, err, [code]] = await Promise.all([textOf(child.stdout), textOf(child.stderr), ended])
  const figures = out.split('\n').filter((line) => line !== '').map((line) => JSON.parse(line) as Figure)
  return { code: code as number, figures, err }
}

describe('benches of workloads, on a cluster in this process', () => {
  let cluster: InProcess
  let api: Api
  beforeAll(async () => {
    cluster = await startInProcess(nodes)
    api = new Api(readTarget(cluster.kubeconfig))
  }, 60_000)
  afterAll(async () => {
    api.close()
    await cluster.stop()
  })

  const measure = async (load: Load, namespace: string, limit: Limit) => {
    const report = new Report()
    const figures: Figure[] = []
    const tell = (line: string) => void figures.push(JSON.parse(line) as Figure)
    const on = { api, namespace, images, pids: [process.pid], probe: undefined, broken: never }
    const isDone = await runLoad(load, phases, on, { limit, report, tell, restMs: 0 })
    return { isDone, report, figures }
  }

  it.each(kindNames)('runLoad() takes %s through its phases', async (kind) => {
    const load = { title: kind, series: kind, isCluster: false, kind, owners: 1, podsEach: nodes, nodes }
    const { isDone, report, figures } = await measure(load, `all-${kind}`, new Limit(30, 1))
    expect(report.table()).not.toContain('stopped')
    expect(isDone).toBe(true)
    const times = figures.filter(({ figure }) => figure.endsWith(': time')).map(({ detail }) => detail['phase'])
    expect(times).toEqual(kinds[kind].rolls(nodes, images).length > 0 ? phases : ['create', 'scale'])
  }, 60_000)

  it('bench:peer runs its loads on any cluster and leaves no namespace behind', async () => {
    const parts = ['--only', 'creates,list,watch,growth', '--pods', '8', '--kinds', 'deployment', '--sizes', '3']
    const to = ['--kubeconfig', cluster.kubeconfig, '--timeout', '30']
    const { code, figures, err } = await runBench('bench/peer.ts', ...to, ...parts)
    expect({ code, err: code === 0 ? '' : err }).toEqual({ code: 0, err: '' })
    const names = figures.map(({ figure }) => figure)
    const ofServer = ['creates of pods, 32 writers, HTTP/2', 'list of 8 pods', 'watch delivery p99, 100 watchers']
    const ofWorkloads = ['create', 'roll', 'scale'].map((phase) => `Deployment of 3: ${phase}: time`)
    expect(names).toEqual(expect.arrayContaining([...ofServer, ...ofWorkloads]))
    const { items } = await api.ask<{ items: { metadata: { name: string } }[] }>('GET', '/api/v1/namespaces')
    expect(items.filter(({ metadata }) => metadata.name.startsWith('bench-peer'))).toEqual([])
  }, 60_000)

  it('runLoad() ends a phase that takes too long, and says how far it got', async () => {
    const oneTooMany = { owners: 1, podsEach: nodes + 1, nodes }
    const load: Load = { title: 'too many', series: 'x', isCluster: false, kind: 'daemonset', ...oneTooMany }
    const { isDone, report, figures } = await measure(load, 'too-many', new Limit(1, 1))
    expect(isDone).toBe(false)
    expect(figures.map(({ figure }) => figure)).toEqual(['too many: create: stopped'])
    expect(report.table()).toContain('3 of 4 pods are ready, 0 of 1 owners are settled after 1 s (--timeout)')
  }, 60_000)
})

it('bench:growth starts a cluster for each load', async () => {
  const loads = ['--kinds', 'deployment', '--sizes', '3', '--clusters', '', '--nodes', '3']
  const { code, figures, err } = await runBench('bench/growth.ts', ...loads, '--timeout', '30', '--minutes', '1')
  expect({ code, err: code === 0 ? '' : err }).toEqual({ code: 0, err: '' })
  const time = figures.find(({ figure }) => figure === 'Deployment of 3: create: time')
  expect(time?.detail).toMatchObject({ pods: 3, nodes: 3, smallest: 3, ratio: 1 })
  expect(figures.map(({ figure }) => figure)).toContain('Deployment of 3: create: CPU per pod')
  expect(err).toMatch(/^Deployment of 3 +scale +3 /m)
}, 60_000)
