import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ask } from '../kubectl/ask.ts'
import { type RunningPart, type RunningServer, runCoxswain, startEverything, startMonitor } from '../kubectl/coxswain.ts'
import { Kubectl } from '../kubectl/kubectl.ts'

const objectives = path.resolve(import.meta.dirname, '../../examples/slo.yaml')
let dir: string
let server: RunningServer
let kubectl: Kubectl
let monitor: RunningPart

const begin = () => startMonitor(server.kubeconfig, ['--port', '0', '--data-dir', path.join(dir, 'monitor'), '--group-by', 'namespace,label:app'])

beforeAll(async () => {
  dir = mkdtempSync(path.join(tmpdir(), 'coxswain-monitor-'))
  server = await startEverything(path.join(dir, 'data'), ['--runtime', 'simulated'])
  kubectl = new Kubectl(server.kubeconfig)
  monitor = await begin()
})
afterAll(async () => {
  await monitor?.stop()
  await server?.stop()
  kubectl?.remove()
  rmSync(dir, { recursive: true, force: true })
})

/** The lines of the monitor's metrics that begin so, and are not 0. */
const lines = async (start: string) => (await ask(monitor.url, '/metrics')).text.split('\n').filter((line) => line.startsWith(start) && !line.endsWith(' 0'))

const count = 'coxswain_pod_sandbox_creation_duration_seconds_count'

describe('coxswain monitor', () => {
  it('says in one line why it cannot start', async () => {
    const { code, out, err } = await runCoxswain(['monitor', '--kubeconfig', server.kubeconfig, '--port', '0', '--group-by', 'colour'])
    expect({ code, out, err }).toEqual({ code: 1, out: '', err: 'coxswain: --group-by: colour is none of namespace, runtimeClass, storageClasses, volumes, label:KEY, annotation:KEY\n' })
  })

  it('is alone in its data directory', async () => {
    const data = path.join(dir, 'monitor')
    const { code, err } = await runCoxswain(['monitor', '--kubeconfig', server.kubeconfig, '--port', '0', '--data-dir', data])
    expect({ code, err }).toEqual({ code: 1, err: expect.stringMatching(new RegExp(`^coxswain: the data directory ${data} is in use by process \\d+\n$`)) })
  })

  it('tells of pods, of groups of pods and of workloads', async () => {
    await kubectl.ok('create deployment web --image=nginx --replicas=2')
    await kubectl.ok('wait --for=condition=Available deployment/web')
    await expect.poll(() => lines(count), { timeout: 40_000 }).toEqual([`${count}{namespace="default",label_app="web"} 2`])
    expect(await lines('kube_pod_sandbox_info')).toEqual(Array(2).fill(expect.stringMatching(/\{namespace="default",pod="web-[^"]+",uid="[^"]+",runtime_class="",storage_classes="",volumes="\d",label_app="web"\} 1/)))
    expect(await lines('kube_deployment_status_replicas_available')).toEqual(['kube_deployment_status_replicas_available{namespace="default",deployment="web"} 2'])
    expect(await lines('kube_deployment_status_condition{')).toContain('kube_deployment_status_condition{namespace="default",deployment="web",reason="NewReplicaSetAvailable",condition="Progressing",status="true"} 1')
  })

  it('tells only those who may know, by the API server, with a certificate that can be checked', async () => {
    const data = path.join(dir, 'guarded')
    const guarded = await startMonitor(server.kubeconfig, ['--port', '0', '--data-dir', data, '--authorize-scrapes', '--slo-file', objectives, '--cluster', 'eu-1'])
    try {
      const token = path.join(dir, 'token')
      writeFileSync(token, (await kubectl.ok('create token default')).trim())
      await kubectl.ok('create clusterrole scraper --verb=get --non-resource-url=/metrics --non-resource-url=/slo')
      await kubectl.ok('create clusterrolebinding scraper --clusterrole=scraper --serviceaccount=default:default')
      const slo = (...flags: string[]) => runCoxswain(['slo', '--monitor', guarded.url, '-o', 'json', ...flags])
      expect((await ask(guarded.url, '/livez')).code).toBe(200)
      expect((await ask(guarded.url, '/metrics')).code).toBe(401)
      expect(await slo()).toMatchObject({ code: 1 })
      const { code, out, err } = await slo('--token-file', token, '--certificate-authority', path.join(data, 'pki/ca.crt'))
      expect({ code, err }).toEqual({ code: 0, err: '' })
      expect(out).toContain('"sandbox-ready"')
      writeFileSync(token, 'nonsense')
      expect(await slo('--token-file', token, '--certificate-authority', path.join(data, 'pki/ca.crt'))).toMatchObject({ code: 1, err: expect.stringContaining('Unauthorized') })
    } finally {
      await guarded.stop()
    }
  })

  it('refuses a threshold that it could never judge', async () => {
    const { code, err } = await runCoxswain(['monitor', '--kubeconfig', server.kubeconfig, '--port', '0', '--slo-file', objectives, '--creation-timeout', '7s'])
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining('slos[0].threshold: 10s is more than the creation timeout of 7s') })
  })

  it('has an example of everything that it needs in a cluster', async () => {
    await kubectl.ok('create namespace monitoring')
    expect((await kubectl.ok(`apply -f ${path.resolve(import.meta.dirname, '../../examples/monitor.yaml')} --dry-run=server`)).trim().split('\n')).toHaveLength(7)
  })

  it('is ready while it hears of everything', async () => {
    expect((await ask(monitor.url, '/readyz')).text).toBe('ok')
  })

  it('gives the same answers after it was killed, and knows what happened meanwhile', async () => {
    const snapshot = path.join(dir, 'monitor/monitor.json')
    const kept = () => (existsSync(snapshot) ? readFileSync(snapshot, 'utf8') : '')
    await expect.poll(kept, { timeout: 40_000 }).toContain('"count":2')
    await monitor.stop('SIGKILL')
    await kubectl.ok('create deployment api --image=nginx')
    await kubectl.ok('wait --for=condition=Available deployment/api')
    await kubectl.ok('delete deployment web --wait')
    monitor = await begin()
    await expect.poll(() => lines(count), { timeout: 40_000 }).toEqual([`${count}{namespace="default",label_app="web"} 2`, `${count}{namespace="default",label_app="api"} 1`])
    expect(await lines('kube_deployment_created')).toHaveLength(1)
  })
})
