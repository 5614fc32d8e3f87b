import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ask } from '../kubectl/ask.ts'
import { type RunningPart, type RunningServer, runCoxswain, startEverything, startMonitor } from '../kubectl/coxswain.ts'
import { Kubectl } from '../kubectl/kubectl.ts'

// The monitor and what it generates, as a real Prometheus has it.

const objectives = path.resolve(import.meta.dirname, '../../examples/slo.yaml')
let dir: string
let server: RunningServer
let monitor: RunningPart
let kubectl: Kubectl
let prometheus: ChildProcess | undefined
let port: number

/** Runs a program of the package to its end, with what it reads. */
const run = (program: 'promtool' | 'prometheus', args: string[], input = ''): Promise<{ code: number; said: string }> =>
  new Promise((resolve, reject) => {
    const child = execFile(program, args, { cwd: dir }, (error, out, err) => {
      if (error && (error as NodeJS.ErrnoException).code === 'ENOENT') reject(new Error(`${program} is not installed: .ci/run does it with apt-get install prometheus`))
      else resolve({ code: error ? Number(error.code) : 0, said: out + err })
    })
    child.stdin!.on('error', () => {})
    child.stdin!.end(input)
  })

beforeAll(async () => {
  dir = mkdtempSync(path.join(tmpdir(), 'coxswain-prometheus-'))
  await Promise.all([run('promtool', ['--version']), run('prometheus', ['--version'])])
  server = await startEverything(path.join(dir, 'data'), ['--runtime', 'simulated', '--slo-file', objectives])
  kubectl = new Kubectl(server.kubeconfig)
  monitor = await startMonitor(server.kubeconfig, ['--port', '0', '--slo-file', objectives, '--data-dir', path.join(dir, 'monitor')])
  writeFileSync(path.join(dir, 'rules.yaml'), (await runCoxswain(['monitor', 'rules', objectives])).out)
  port = await freePort()
  prometheus = startPrometheus()
})
afterAll(async () => {
  const ended = new Promise((resolve) => prometheus?.once('close', resolve))
  if (prometheus?.kill()) await ended
  await monitor?.stop()
  await server?.stop()
  kubectl?.remove()
  rmSync(dir, { recursive: true, force: true })
})

/** Scrapes the monitor and reads the rules, on a port of its own. */
function startPrometheus(): ChildProcess {
  const config = {
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: ['rules.yaml'],
    scrape_configs: [{ job_name: 'coxswain', scheme: 'https', honor_labels: true, tls_config: { insecure_skip_verify: true }, static_configs: [{ targets: [new URL(monitor.url).host] }] }],
  }
  writeFileSync(path.join(dir, 'prometheus.yml'), JSON.stringify(config))
  const flags = ['--config.file=prometheus.yml', '--storage.tsdb.path=tsdb', `--web.listen-address=127.0.0.1:${port}`, '--log.level=error']
  return spawn('prometheus', flags, { cwd: dir, stdio: ['ignore', 'ignore', 'inherit'] })
}

describe('promtool', () => {
  it('finds nothing to say of the metrics', async () => {
    await kubectl.ok('create deployment web --image=nginx --replicas=3')
    await kubectl.ok('wait --for=condition=Available deployment/web')
    await expect.poll(async () => (await ask(monitor.url, '/metrics')).text, { timeout: 40_000 }).toMatch(/^coxswain_slo_events_total\{slo="sandbox-succeeds",outcome="good"\} 3$/m)
    const { text } = await ask(monitor.url, '/metrics')
    expect(await run('promtool', ['check', 'metrics'], text)).toEqual({ code: 0, said: '' })
  })

  it('accepts the rules', async () => {
    const { code, said } = await run('promtool', ['check', 'rules', 'rules.yaml'])
    expect(said).toMatch(/SUCCESS: \d+ rules found/)
    expect(code).toBe(0)
  })

  it('sees alerts come and go as they should', async () => {
    writeFileSync(path.join(dir, 'slo-alerts.yaml'), readFileSync(path.join(import.meta.dirname, 'slo-alerts.yaml')))
    const { code, said } = await run('promtool', ['test', 'rules', 'slo-alerts.yaml'])
    expect(said).toContain('SUCCESS')
    expect(code).toBe(0)
  })
})

interface Answer {
  data: { result: { metric: Record<string, string>; value: [number, string] }[]; groups: { rules: { name: string; health: string; lastError?: string }[] }[] }
}

describe('a Prometheus that scrapes the monitor', () => {
  const query = async (text: string): Promise<Answer | undefined> =>
    fetch(`http://127.0.0.1:${port}/api/v1/${text}`).then((answer) => answer.json() as Promise<Answer>, () => undefined)
  /** The values of a query, by labels if there is more than one. */
  const values = async (promql: string): Promise<number[] | undefined> =>
    (await query(`query?query=${encodeURIComponent(promql)}`))?.data.result.map(({ value }) => Number(value[1]))

  it('answers with the SLI', async () => {
    await expect.poll(() => values('up{job="coxswain"}'), { timeout: 40_000 }).toEqual([1])
    await expect.poll(() => values('sum(coxswain_pod_sandbox_creation_duration_seconds_count{namespace="default"})'), { timeout: 40_000 }).toEqual([3])
    const [p99] = (await values('histogram_quantile(0.99, sum by (le) (coxswain_pod_sandbox_creation_duration_seconds_bucket))'))!
    expect(p99).toBeGreaterThanOrEqual(0)
    expect(p99).toBeLessThan(10)
    expect(await values('count(kube_pod_status_ready_to_start_containers_time{namespace="default"})')).toEqual([3])
  })

  it('answers with the SLO, and its rules have no problems', async () => {
    expect(await values('coxswain_slo_compliance_ratio{slo="sandbox-succeeds"}')).toEqual([1])
    await kubectl.ok('scale deployment web --replicas=5')
    await expect.poll(() => values('sum(coxswain_slo_events_total{slo="sandbox-succeeds"})'), { timeout: 40_000 }).toEqual([5])
    await expect.poll(() => values('coxswain_slo:error_ratio:rate5m{slo="sandbox-succeeds"}'), { timeout: 40_000 }).toEqual([0])
    const read = async () => (await query('rules'))!.data.groups.flatMap((group) => group.rules)
    expect((await read()).length).toBeGreaterThan(40)
    expect((await read()).filter(({ health }) => health === 'err')).toEqual([])
  })
})

describe('coxswain slo', () => {
  it.each([
    ['a monitor', () => ['--monitor', monitor.url]],
    ['a cluster that has one in it', () => ['--kubeconfig', server.kubeconfig]],
  ])('prints how objectives stand, and the latencies, of %s', async (_, where) => {
    const { code, out } = await runCoxswain(['slo', ...where(), 'sandbox-succeeds'])
    expect(code).toBe(0)
    expect(out).toMatch(/^sandbox-succeeds +99\.9% +30d +5 +0 +100\.00% +100\.0% .* ok$/m)
    expect(out).toMatch(/the last 1h: 5 events, half in less than \ds/)
    expect(out).not.toContain('payments-ready')
  })

  it('says what it does not know', async () => {
    expect(await runCoxswain(['slo', '--monitor', monitor.url, 'nope'])).toMatchObject({ code: 1, err: expect.stringContaining('objective nope not found; there are sandbox-ready,') })
  })
})

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const holder = createServer().listen(0, '127.0.0.1', () => {
      const { port } = holder.address() as { port: number }
      holder.close(() => resolve(port))
    })
  })
