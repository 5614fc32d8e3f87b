import { type Client, http2Client } from './client.ts'
import { type GateKeeper, type Word, hasGates, isNews, reportOf, wordOn } from './gated-pods.ts'
import { type Seen, watchObjects } from './object-watch.ts'
import type { Target } from './target.ts'

/** The number of pods processed concurrently. */
const width = 64

type Work = { pod: Seen; what: 'run' | 'report' | 'finish' }

/**
 * In place of scheduler and nodes: every pod is bound and reported Ready, those of jobs Succeeded, with two writes; what is being deleted is finished off
 * with a third. Pods with readiness gates are reported again when these open and shut, and when an image has changed.
 */
export class Kubelet {
  readonly #client: Client
  readonly #node: string
  readonly #keeper: GateKeeper
  readonly #queue: Work[] = []
  /** By uid: what was done for it last. */
  readonly #pods = new Map<string, 'run' | 'finish'>()
  /** By uid: those with gates as they were last seen, and which of them are being dealt with. */
  readonly #gated = new Map<string, Seen>()
  readonly #gatedAtWork = new Set<string>()
  /** By uid: what was said of them last, of which the watch may know later. */
  readonly #said = new Map<string, Word>()
  readonly #goneListeners = new Set<() => void>()
  #busy = 0
  #endWatch = () => {}
  #heart: NodeJS.Timeout | undefined

  private constructor(client: Client, node: string, keeper: GateKeeper) {
    this.#client = client
    this.#node = node
    this.#keeper = keeper
  }

  /** Starts on pods that come from now on. */
  static async start(target: Target, keeper: GateKeeper = 'node'): Promise<Kubelet> {
    const kubelet = new Kubelet(await http2Client(target, 2), 'bench-node', keeper)
    await kubelet.#makeNode()
    // A node that does not say that it lives loses its pods after a while.
    kubelet.#heart = setInterval(() => void kubelet.#renewLease(), heartbeatMs)
    kubelet.#endWatch = await watchObjects(target, '/api/v1/pods', (type, pod) => kubelet.#see(type, pod))
    return kubelet
  }

  /** Pods that it knows and that are not gone. */
  get alive(): number {
    return this.#pods.size
  }

  /** Resolves when no pod is left. */
  async allGone(): Promise<void> {
    while (this.#pods.size > 0) await new Promise<void>((resolve) => this.#goneListeners.add(resolve))
  }

  stop(): void {
    clearInterval(this.#heart)
    this.#endWatch()
    this.#client.close()
  }

  #see(type: string, pod: Seen): void {
    const { uid, deletionTimestamp } = pod.metadata
    if (type === 'DELETED') {
      this.#pods.delete(uid)
      this.#gated.delete(uid)
      this.#said.delete(uid)
      if (this.#pods.size === 0) for (const listener of this.#goneListeners) listener()
      if (this.#pods.size === 0) this.#goneListeners.clear()
      return
    }
    if (hasGates(pod)) this.#gated.set(uid, pod)
    const what = deletionTimestamp ? 'finish' : 'run'
    if (this.#pods.get(uid) === what || (what === 'run' && pod.spec.nodeName)) return this.#reportAgain(uid)
    this.#pods.set(uid, what)
    this.#enqueue({ pod, what })
  }

  #enqueue(work: Work): void {
    if (hasGates(work.pod)) this.#gatedAtWork.add(work.pod.metadata.uid)
    this.#queue.push(work)
    if (this.#busy < width) void this.#work()
  }

  #reportAgain(uid: string): void {
    const [pod, said] = [this.#gated.get(uid), this.#said.get(uid)]
    if (!pod || !said || pod.metadata.deletionTimestamp || this.#gatedAtWork.has(uid)) return
    if (isNews(wordOn(pod, this.#keeper), said)) this.#enqueue({ pod, what: 'report' })
  }

  async #work(): Promise<void> {
    this.#busy++
    for (let work = this.#queue.shift(); work; work = this.#queue.shift()) {
      if (work.what === 'finish') await this.#send('DELETE', podPath(work.pod), { gracePeriodSeconds: 0 })
      else if (work.what === 'run') await this.#run(work.pod)
      else await this.#report(work.pod)
      const { uid } = work.pod.metadata
      if (this.#gatedAtWork.delete(uid)) this.#reportAgain(uid)
    }
    this.#busy--
  }

  async #run(pod: Seen): Promise<void> {
    const { name } = pod.metadata
    const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { name }, target: { apiVersion: 'v1', kind: 'Node', name: nodeFor(pod) ?? this.#node } }
    if (!(await this.#send('POST', `${podPath(pod)}/binding`, binding))) return
    if (hasGates(pod)) return this.#report(pod)
    const isOfJob = pod.metadata.ownerReferences?.some((ref) => ref.kind === 'Job') ?? false
    await this.#send('PATCH', `${podPath(pod)}/status`, { status: isOfJob ? succeeded(pod) : ready(pod) })
  }

  async #report(pod: Seen): Promise<void> {
    const latest = this.#gated.get(pod.metadata.uid) ?? pod
    const { uid } = pod.metadata
    const before = this.#said.get(uid)
    this.#said.set(uid, wordOn(latest, this.#keeper))
    const isTold = await this.#send('PATCH', `${podPath(pod)}/status`, reportOf(latest, time(), this.#keeper), 'application/strategic-merge-patch+json')
    // It is another version by now, of which the watch tells.
    if (!isTold && before) this.#said.set(uid, before)
  }

  /** False if what it is about went away meanwhile, or was there before. */
  async #send(method: string, path: string, body: object, patchType = 'application/merge-patch+json'): Promise<boolean> {
    const { code, text } = await this.#client.send(method, path, JSON.stringify(body), method === 'PATCH' ? patchType : undefined)
    if (code >= 400 && code !== 404 && code !== 409) throw new Error(`${method} ${path}: ${code} ${text}`)
    return code < 400
  }

  async #makeNode(): Promise<void> {
    const at = time()
    const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: this.#node } }
    const alive = { ...condition('Ready', true, at), lastProbeTime: undefined, lastHeartbeatTime: at, reason: 'KubeletReady', message: '' }
    await this.#send('POST', '/api/v1/nodes', node)
    await this.#send('PATCH', `/api/v1/nodes/${this.#node}/status`, { status: { conditions: [alive] } })
    await this.#send('POST', leasesPath, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: this.#node }, spec: this.#lease() })
  }

  async #renewLease(): Promise<void> {
    // The next one makes up for one that fails, and what ends the run is told elsewhere.
    await this.#send('PATCH', `${leasesPath}/${this.#node}`, { spec: this.#lease() }).catch(() => {})
  }

  #lease() {
    return { holderIdentity: this.#node, leaseDurationSeconds: 40, renewTime: new Date().toISOString().replace('Z', '000Z') }
  }
}

/** The node that a pod of a DaemonSet was made for. */
const nodeFor = ({ spec }: Seen): string | undefined =>
  spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms[0]?.matchFields?.[0]?.values?.[0]

const heartbeatMs = 10_000
const leasesPath = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases'

const podPath = ({ metadata: { namespace, name } }: Seen) => `/api/v1/namespaces/${namespace}/pods/${name}`

const time = () => `${new Date().toISOString().slice(0, 19)}Z`

const condition = (type: string, isTrue: boolean, at: string) => ({ type, status: isTrue ? 'True' : 'False', lastProbeTime: null, lastTransitionTime: at })

function ready({ spec }: Seen) {
  const at = time()
  const conditions = ['Initialized', 'Ready', 'ContainersReady', 'PodScheduled'].map((type) => condition(type, true, at))
  const state = { running: { startedAt: at } }
  return { phase: 'Running', startTime: at, conditions, containerStatuses: statuses(spec, state, true) }
}

function succeeded({ spec }: Seen) {
  const at = time()
  const conditions = ['Initialized', 'Ready', 'ContainersReady', 'PodScheduled'].map((type) => condition(type, type === 'Initialized' || type === 'PodScheduled', at))
  const state = { terminated: { exitCode: 0, reason: 'Completed', startedAt: at, finishedAt: at } }
  return { phase: 'Succeeded', startTime: at, conditions, containerStatuses: statuses(spec, state, false) }
}

const statuses = ({ containers = [] }: Seen['spec'], state: object, isReady: boolean) =>
  containers.map(({ name, image }) => ({ name, image, imageID: '', restartCount: 0, ready: isReady, started: isReady, state }))
