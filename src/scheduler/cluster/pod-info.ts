import type { Container, Pod } from '../../api/generated/types.ts'
import { claimKeysOf } from '../../api/kinds/pod-claims.ts'
import { aggregateContainers } from '../../api/kinds/pod-level-resources.ts'
import { podRequests, specRequests } from '../../api/kinds/pod-resources.ts'
import { addTo } from '../../api/kinds/amounts.ts'
import { deepEqual } from '../../api/deep-equal.ts'
import { type PodAffinities, affinitiesOf } from './affinity-term.ts'
import { type Amounts, amountsOf } from '../../api/kinds/counted-amounts.ts'
import { type HostPort, hostPortsOf } from '../../api/kinds/host-ports.ts'

/** What a container is taken to need that does not say: otherwise any number of such pods would fit on one node equally well. */
const assumedCpu = '100m'
const assumedMemory = '200Mi'

const saysAll = ({ resources }: Container): boolean => resources?.requests?.['cpu'] !== undefined && resources.requests['memory'] !== undefined

/** A pod and what the cycle asks of it again and again, worked out once. */
export class PodInfo {
  #pod: Pod
  readonly key: string
  readonly uid: string
  readonly namespace: string
  readonly priority: number
  readonly affinities: PodAffinities
  readonly hostPorts: readonly HostPort[]
  /** Keys of the claims whose volumes it mounts. */
  readonly claimKeys: readonly string[]
  readonly isTerminating: boolean
  /** What it takes of a node. */
  readonly requests: Amounts
  /** CPU and memory as they count for the scores, in which no container needs nothing. */
  readonly scored: { readonly cpu: number; readonly memory: number }

  constructor(pod: Pod) {
    const { namespace = '', name = '', uid = '', deletionTimestamp } = pod.metadata
    this.#pod = pod
    this.key = `${namespace}/${name}`
    this.uid = uid
    this.namespace = namespace
    this.priority = pod.spec.priority ?? 0
    this.affinities = affinitiesOf(pod)
    this.hostPorts = hostPortsOf(pod)
    this.claimKeys = claimKeysOf(pod)
    this.isTerminating = deletionTimestamp !== undefined
    this.requests = requestsOf(pod)
    this.scored = scoredOf(pod, this.requests)
  }

  get pod(): Pod {
    return this.#pod
  }

  get labels() {
    return this.#pod.metadata.labels
  }

  /** Takes a later state of the pod that says nothing else about all of the above; answers whether it was one. */
  follow(pod: Pod): boolean {
    const { metadata } = this.#pod
    const isSame =
      pod.metadata.uid === this.uid &&
      isUnresized(pod) &&
      pod.metadata.generation === metadata.generation &&
      (pod.metadata.deletionTimestamp !== undefined) === this.isTerminating &&
      deepEqual(pod.metadata.labels, metadata.labels)
    if (isSame) this.#pod = pod
    return isSame
  }
}

/** The spec of such a pod has never changed but for its node: what it takes of the node is what it asked for. */
const isUnresized = ({ metadata: { generation } }: Pod): boolean => generation === 1

/** Containers of one template ask for the same, text for text. */
const known = new Map<string, Amounts>()
const knownSize = 1000

function requestsOf(pod: Pod): Amounts {
  const { spec } = pod
  if (!isUnresized(pod)) return amountsOf(podRequests(pod))
  const isPlain = spec.containers.length === 1 && !spec.initContainers && !spec.overhead && !spec.resources
  if (!isPlain) {
    const requests = specRequests(pod)
    addTo(requests, spec.overhead)
    return amountsOf(requests)
  }
  const requests = spec.containers[0]!.resources?.requests
  if (!requests) return nothing
  const text = JSON.stringify(requests)
  let amounts = known.get(text)
  if (!amounts) {
    if (known.size >= knownSize) known.clear()
    known.set(text, (amounts = amountsOf(requests)))
  }
  return amounts
}

const nothing: Amounts = { cpu: 0, memory: 0, storage: 0, others: undefined }
const assumed = amountsOf({ cpu: assumedCpu, memory: assumedMemory })

function scoredOf({ spec }: Pod, requests: Amounts): { cpu: number; memory: number } {
  if (spec.containers.every(saysAll) && (spec.initContainers ?? []).every(saysAll)) return requests
  if (spec.containers.length === 1 && !spec.initContainers && !spec.overhead && !spec.resources) {
    const own = spec.containers[0]!.resources?.requests
    return { cpu: own?.['cpu'] ? requests.cpu : assumed.cpu, memory: own?.['memory'] ? requests.memory : assumed.memory }
  }
  const sum = aggregateContainers(spec, ({ resources }) => ({ cpu: assumedCpu, memory: assumedMemory, ...resources?.requests }))
  for (const name of ['cpu', 'memory']) {
    const ofPod = spec.resources?.requests?.[name]
    if (ofPod !== undefined) sum[name] = ofPod
  }
  addTo(sum, spec.overhead)
  return amountsOf(sum)
}
