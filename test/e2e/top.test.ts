import { describe, expect, it, onTestFinished } from 'vitest'
import { useEverything, usePods } from '../kubectl/cluster.ts'

/** The lines of a table without the space between its columns. */
const rows = (table: string) => table.trim().split('\n').map((line) => line.trim().split(/\s+/).join(' '))

describe('simulated nodes', () => {
  const pod = (name: string, app: string, cpu: string, memory: string) => `
apiVersion: v1
kind: Pod
metadata:
  name: ${name}
  labels: { app: ${app} }
  annotations: { coxswain.dev/simulate-cpu: "${cpu}", coxswain.dev/simulate-memory: ${memory}, coxswain.dev/simulate-cpu.side: 1m, coxswain.dev/simulate-log: "one\\ntwo", coxswain.dev/simulate-log-every: 10m }
spec:
  nodeName: sim-${name === 'small' ? 0 : 1}
  terminationGracePeriodSeconds: 0
  containers: [{ name: main, image: main }, { name: side, image: side }]
---`
  const cluster = useEverything(['--runtime', 'simulated', '--nodes', '2', '--node-name', 'sim'])
  usePods(cluster, pod('small', 'web', '250m', '64Mi') + pod('large', 'db', '2', '1Gi'), 'pod --all')

  it.each([
    ['top pods --no-headers', ['large 2001m 2048Mi', 'small 251m 128Mi']],
    ['top pods --sort-by=cpu', ['NAME CPU(cores) MEMORY(bytes)', 'large 2001m 2048Mi', 'small 251m 128Mi']],
    ['top pods -l app=web --no-headers', ['small 251m 128Mi']],
    ['top pod small --containers --no-headers', ['small main 250m 64Mi', 'small side 1m 64Mi']],
    ['top nodes --sort-by=cpu', ['NAME CPU(cores) CPU(%) MEMORY(bytes) MEMORY(%)', 'sim-1 2001m 6% 2048Mi 0%', 'sim-0 251m 0% 128Mi 0%']],
    ['top node sim-0 --no-headers', ['sim-0 251m 0% 128Mi 0%']],
  ])('kubectl %s', async (line, expected) => {
    expect(rows(await cluster.kubectl.ok(line))).toEqual(expected)
  })

  it('kubectl get shows the same, and over which time', async () => {
    expect(rows(await cluster.kubectl.ok('get podmetrics small'))).toEqual(['NAME CPU MEMORY WINDOW', expect.stringMatching(/^small 250m,1m 64Mi,64Mi \d/)])
  })

  it('what is not there uses nothing', async () => {
    expect(await cluster.kubectl.refused('top pod none')).toBe('Error from server (NotFound): podmetrics.metrics.k8s.io "default/none" not found\n')
  })

  it('kubectl logs shows what pods say there', async () => {
    expect(await cluster.kubectl.ok('logs small -c main')).toBe('one\ntwo\n')
    expect(await cluster.kubectl.ok('logs large -c main --tail=1')).toBe('two\n')
    // kubectl takes the containers in no order.
    const all = await cluster.kubectl.ok('logs -l app=web --all-containers --prefix')
    expect(all.trimEnd().split('\n').sort()).toEqual(['[pod/small/main] one', '[pod/small/main] two', '[pod/small/side] one', '[pod/small/side] two'])
    const following = cluster.kubectl.start('logs -f small -c main --tail=1')
    onTestFinished(async () => void (await following.stop()))
    expect(await following.nextLine()).toBe('two')
  })
})

describe('processes', () => {
  const manifest = `
apiVersion: v1
kind: Pod
metadata: { name: app }
spec:
  terminationGracePeriodSeconds: 0
  containers:
    - { name: busy, image: busybox, command: [timeout, '120', sh, -c, 'while :; do :; done'] }
    - { name: quiet, image: busybox, command: [sleep, '600'] }`
  const cluster = useEverything()
  usePods(cluster, manifest, 'pod --all')

  it('kubectl top shows what they really take', async () => {
    const [busy = '', quiet = ''] = rows(await cluster.kubectl.ok('top pod app --containers --no-headers --sort-by=cpu'))
    expect(busy).toMatch(/^app busy [1-9]\d*m \d+Mi$/)
    expect(quiet).toMatch(/^app quiet 0m \d+Mi$/)
    const metrics = JSON.parse(await cluster.kubectl.ok('get --raw /apis/metrics.k8s.io/v1beta1/nodes')) as { items: { usage: { cpu: string; memory: string } }[] }
    expect(metrics.items).toEqual([expect.objectContaining({ usage: { cpu: expect.stringMatching(/^[1-9]/), memory: expect.stringMatching(/^[1-9]\d*Ki$/) } })])
  })
})
