import type { Container, Pod } from '../../api/generated/types.ts'
import { claimKeysOf } from '../../api/kinds/volumes/volume-references.ts'
import { aggregateContainers } from '../../api/kinds/pods/pod-level-resources.ts'
import { podRequests, specRequests } from '../../api/kinds/pods/pod-resources.ts'
import { addTo } from '../../api/kinds/quantities/amounts.ts'
import { deepEqual } from '../../api/deep-equal.ts'
import { type PodAffinities, affinitiesOf } from './affinity-terms.ts'
import { type Amounts, amountsOf } from '../../api/kinds/quantities/counted-amounts.ts'
import { type HostPort, hostPortsOf } from '../../api/kinds/pods/host-ports.ts'

/** The assumed requests of a container without requests. Otherwise any number of such pods would score the same. */
const assumedCpu = '100m'
const assumedMemory = '200Mi'

const saysAll = ({ resources }: Container): boolean =>
  resources?.requests?.['cpu'] !== undefined && resources.requests['memory'] !== undefined

/** A pod with the values that a cycle needs repeatedly, computed once. */
export class PodInfo {
  #pod: Pod
  readonly key: string
  readonly uid: string
  readonly namespace: string
  readonly priority: number
  readonly affinities: PodAffinities
  readonly hostPorts: readonly HostPort[]
  /** The keys of the claims that it mounts. */
  readonly claimKeys: readonly string[]
  readonly isTerminating: boolean
  /** The sum of its requests. */
  readonly requests: Amounts
  /** CPU and memory for scoring, with the assumed requests of containers. */
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

  /** Accepts a newer version of the pod if none of the values above change. Returns whether it did. */
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

/** The spec of such a pod has not changed except for its node, so its requests are unchanged. */
const isUnresized = ({ metadata: { generation } }: Pod): boolean => generation === 1

/** Containers of one template have equal requests, text by text. */
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
    return {
      cpu: own?.['cpu'] ? requests.cpu : assumed.cpu,
      memory: own?.['memory'] ? requests.memory : assumed.memory,
    }
  }
  const sum = aggregateContainers(spec, ({ resources }) => ({
    cpu: assumedCpu,
    memory: assumedMemory,
    ...resources?.requests,
  }))
  for (const name of ['cpu', 'memory']) {
    const ofPod = spec.resources?.requests?.[name]
    if (ofPod !== undefined) sum[name] = ofPod
  }
  addTo(sum, spec.overhead)
  return amountsOf(sum)
}
