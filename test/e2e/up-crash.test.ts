import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { type RunningServer, startEverything } from '../kubectl/coxswain.ts'
import { Kubectl } from '../kubectl/kubectl.ts'

const replicas = 4

const deployment = `
apiVersion: apps/v1
kind: Deployment
metadata: { name: web }
spec:
  replicas: ${replicas}
  selector: { matchLabels: { app: web } }
  # One after the other, so that there is a middle.
  minReadySeconds: 1
  strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } }
  template:
    metadata: { labels: { app: web } }
    spec:
      terminationGracePeriodSeconds: 1
      containers: [{ name: web, image: 'nginx:0', ports: [{ containerPort: 8080 }], volumeMounts: [{ name: scratch, mountPath: /scratch }] }]
      volumes: [{ name: scratch, emptyDir: {} }]
`

const slow = { timeout: 30_000, interval: 200 }

/** The traces of containers on this machine below a data directory. */
class Traces {
  readonly #dataDir: string
  /** Ids of all containers that were seen here. */
  readonly #known = new Set<string>()

  constructor(dataDir: string) {
    this.#dataDir = dataDir
  }

  #entries = (folder: string) => readdirSync(path.join(this.#dataDir, 'node', folder))

  directories(): Record<'pods' | 'sandboxes' | 'containers', number> {
    return { pods: this.#entries('pods').length, sandboxes: this.#entries('runtime/sandboxes').length, containers: this.#entries('runtime/containers').length }
  }

  /** Looks which containers there are: their processes are told apart from others' by their ids. */
  look(): void {
    for (const id of this.#entries('runtime/containers')) this.#known.add(id)
  }

  /** The ids of containers that have processes, once for each group of theirs. */
  processes(): string[] {
    const found = new Map<string, string>()
    eachProcess((read) => {
      const id = /(?:^|\0)COXSWAIN_CONTAINER_ID=([^\0]*)/.exec(read('environ'))?.[1]
      const group = read('stat').replace(/^.*\) \S+ \S+ /, '').split(' ')[0]!
      if (id !== undefined && this.#known.has(id)) found.set(`${id} ${group}`, id)
    })
    return [...found.values()].sort()
  }

  /** The number of processes that were started from the data directory. */
  programs(): number {
    let count = 0
    eachProcess((read) => (count += read('cmdline').includes(this.#dataDir) ? 1 : 0))
    return count
  }
}

function eachProcess(look: (read: (file: string) => string) => void): void {
  for (const pid of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    try {
      look((file) => readFileSync(`/proc/${pid}/${file}`, 'latin1'))
    } catch {
      // It has just ended.
    }
  }
}

/** Addresses on which somebody listens at the port, below the same first two parts as `like`. */
function listening(port: number, like: string): string[] {
  const lines = readFileSync('/proc/net/tcp', 'latin1').trim().split('\n').slice(1).map((line) => line.trim().split(/\s+/))
  const prefix = like.split('.').slice(0, 2).join('.')
  return lines
    .filter(([, local = '', , state]) => state === '0A' && Number.parseInt(local.split(':')[1]!, 16) === port)
    .map(([, local = '']) => local.slice(0, 8).match(/../g)!.map((byte) => Number.parseInt(byte, 16)).reverse().join('.'))
    .filter((address) => address.startsWith(`${prefix}.`))
    .sort()
}

it.runIf(process.platform === 'linux')('coxswain up that is killed in mid-rollout finishes it, with nothing twice and nothing left behind', async () => {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'coxswain-crash-'))
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }))
  const traces = new Traces(dataDir)
  let server: RunningServer = await startEverything(dataDir)
  onTestFinished(async () => void (await server.stop('SIGKILL')))
  let kubectl = new Kubectl(server.kubeconfig)
  await kubectl.ok('create -f -', deployment)
  await kubectl.ok('wait --for=condition=Available deployment/web --timeout=60s')
  for (const updated of [1, 3]) {
    await kubectl.ok(`set image deployment/web web=nginx:${updated}`)
    await kubectl.ok(`wait --for=jsonpath={.status.updatedReplicas}=${updated} deployment/web --timeout=60s`)
    traces.look()
    await server.stop('SIGKILL')
    server = await startEverything(dataDir)
    kubectl = new Kubectl(server.kubeconfig)
    await kubectl.ok('rollout status deployment/web --timeout=60s')
  }
  const running = () => kubectl.ok('get pods --no-headers -o custom-columns=I:.status.podIP,C:.status.containerStatuses[*].containerID,D:.metadata.deletionTimestamp,M:.spec.containers[0].image')
  await expect.poll(async () => (await running()).trim().split('\n').length, slow).toBe(replicas)
  const rows = (await running()).trim().split('\n').map((row) => row.split(/ +/))
  expect(rows.map(([, , deleted, image]) => `${deleted} ${image}`)).toEqual(rows.map(() => '<none> nginx:3'))
  const addresses = rows.map(([address]) => address!).sort()
  const containers = rows.map(([, id]) => id!.replace('process://', '')).sort()
  traces.look()
  expect(traces.processes()).toEqual(containers)
  // The directory of a pod goes after the pod.
  await expect.poll(() => traces.directories(), slow).toEqual({ pods: replicas, sandboxes: replicas, containers: replicas })
  expect(new Set(addresses).size).toBe(replicas)
  expect(listening(8080, addresses[0]!)).toEqual(addresses)
  // The first one, and one for each update.
  expect((await kubectl.ok('get replicasets -o name')).trim().split('\n')).toHaveLength(3)

  await kubectl.ok('delete deployment web --cascade=foreground --timeout=60s')
  await expect.poll(() => traces.directories(), slow).toEqual({ pods: 0, sandboxes: 0, containers: 0 })
  expect(traces.processes()).toEqual([])
  expect(listening(8080, addresses[0]!)).toEqual([])
  expect(await server.stop()).toMatchObject({ code: 0 })
  await expect.poll(() => traces.programs(), slow).toBe(0)
}, 120_000)
