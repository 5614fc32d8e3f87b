import type { Container, ContainerStatus, Pod, Probe } from '../../api/generated/types.ts'
import { isPodFinished } from '../../api/kinds/pods/pod-availability.ts'
import { summarizePod } from '../../api/kinds/pods/pod-summary.ts'
import type { Clock } from '../../base/clock.ts'
import { events as eventsType, nodes, pods } from '../../client/index.ts'
import { explainPod } from '../../insight/workload/explanation.ts'
import { kindNamed } from '../../insight/workload/kinds.ts'
import { Reader } from '../../insight/workload/reader.ts'
import type { Caches } from '../board/caches.ts'
import type { Viewer } from '../login/viewer.ts'
import { conditionFact, eventFact, metadataFact } from './facts.ts'

/** Reasons of events about a pod's sandbox, from the kubelet and from our node agent. */
const sandboxReasons: readonly string[] = [
  'SandboxChanged',
  'FailedCreatePodSandBox',
  'FailedKillPod',
  'NetworkNotReady',
  'FailedMount',
  'FailedAttachVolume',
]

/** Returns all details of a pod, read with the viewer's identity. */
export async function podPage(viewer: Viewer, caches: Caches, clock: Clock, namespace: string, name: string) {
  const { client } = viewer
  const pod = await client.get(pods, namespace, name)
  const right = (verb: string, subresource: string) =>
    viewer.may({ verb, group: '', resource: 'pods', subresource, namespace, name })
  const [explanation, events, logs, exec, remove] = await Promise.all([
    explainPod({ client, clock }, pod),
    new Reader(client).eventsOf(pod),
    right('get', 'log'),
    // A WebSocket is a GET, which API servers authorize as get, as create, or as both.
    Promise.all([right('create', 'exec'), right('get', 'exec')]),
    viewer.may({ verb: 'delete', group: '', resource: 'pods', namespace, name }),
  ])
  const root = caches.rootOf(pod)
  const { group, plural: resource } = kindNamed(root?.kind ?? 'Deployment').type
  const isRootTold = root && (await viewer.may({ verb: 'list', group, resource, namespace }))
  const { status, restarts, ready, containers } = summarizePod(pod)
  const told = events.map(eventFact)
  const { state, message, causes } = explanation
  return {
    metadata: metadataFact(pod),
    status,
    restarts,
    ready,
    total: containers,
    node: pod.spec?.nodeName ?? '',
    ip: pod.status?.podIP ?? '',
    qos: pod.status?.qosClass ?? '',
    started: pod.status?.startTime ?? '',
    root: isRootTold ? root : null,
    explanation: { state, message, causes },
    conditions: (pod.status?.conditions ?? []).map(conditionFact),
    containers: containersOf(pod),
    sandboxEvents: told.filter(({ reason }) => sandboxReasons.includes(reason)),
    events: told.slice(0, 50),
    may: { logs, exec: exec.every(Boolean), delete: remove },
  }
}

function containersOf({ spec, status }: Pod) {
  const facts = (
    containers: readonly Container[] | undefined,
    statuses: readonly ContainerStatus[] | undefined,
    isInit: boolean,
  ) =>
    (containers ?? []).map((container) =>
      containerFact(
        container,
        statuses?.find(({ name }) => name === container.name),
        isInit,
      ),
    )
  return [
    ...facts(spec?.initContainers, status?.initContainerStatuses, true),
    ...facts(spec?.containers, status?.containerStatuses, false),
  ]
}

function containerFact(container: Container, status: ContainerStatus | undefined, isInit: boolean) {
  const { name, image = '', ports = [], livenessProbe, readinessProbe, startupProbe } = container
  const probes = { liveness: livenessProbe, readiness: readinessProbe, startup: startupProbe }
  return {
    name,
    image,
    isInit,
    state: stateFact(status?.state),
    last: stateFact(status?.lastState),
    isReady: status?.ready === true,
    restarts: status?.restartCount ?? 0,
    hasPrevious: status?.lastState?.terminated !== undefined,
    ports: ports.map(({ containerPort, protocol = 'TCP' }) => `${containerPort}/${protocol}`),
    probes: Object.entries(probes).flatMap(([kind, probe]) => (probe ? [`${kind}: ${probeText(probe)}`] : [])),
  }
}

/** Returns the state of a container, or how it ended, and since when. Null if unknown. */
function stateFact(
  state: ContainerStatus['state'] | undefined,
): { word: string; reason: string; since: string } | null {
  if (state?.running) return { word: 'running', reason: '', since: state.running.startedAt ?? '' }
  if (state?.waiting)
    return {
      word: 'waiting',
      reason: [state.waiting.reason, state.waiting.message].filter(Boolean).join(': '),
      since: '',
    }
  const ended = state?.terminated
  return ended
    ? {
        word: `ended with ${ended.exitCode}`,
        reason: ended.reason ? `(${ended.reason})` : '',
        since: ended.finishedAt ?? '',
      }
    : null
}

function probeText({ httpGet, tcpSocket, exec, grpc, periodSeconds = 10, failureThreshold = 3 }: Probe): string {
  const what = httpGet
    ? `GET :${httpGet.port}${httpGet.path ?? '/'}`
    : tcpSocket
      ? `TCP :${tcpSocket.port}`
      : grpc
        ? `gRPC :${grpc.port}`
        : `exec ${(exec?.command ?? []).join(' ')}`
  return `${what} every ${periodSeconds} s, fails after ${failureThreshold}`
}

/** Returns a node and those of its pods that the viewer may read. */
export async function nodePage(viewer: Viewer, name: string) {
  const node = await viewer.client.get(nodes, '', name)
  const reader = new Reader(viewer.client)
  const [onIt, events] = await Promise.all([
    reader.list(pods, '', { fieldSelector: `spec.nodeName=${name}` }),
    reader.list(eventsType, '', { fieldSelector: `involvedObject.kind=Node,involvedObject.name=${name}` }),
  ])
  return {
    metadata: metadataFact(node),
    isCordoned: node.spec?.unschedulable === true,
    taints: (node.spec?.taints ?? []).map(({ key, value, effect }) => `${key}${value ? `=${value}` : ''}:${effect}`),
    conditions: (node.status?.conditions ?? []).map((one) =>
      conditionFact({ ...one, lastUpdateTime: one.lastHeartbeatTime ?? undefined }),
    ),
    allocatable: node.status?.allocatable ?? {},
    info: node.status?.nodeInfo ?? {},
    pods:
      onIt?.slice(0, 500).map((pod) => ({
        namespace: pod.metadata.namespace ?? '',
        name: pod.metadata.name ?? '',
        status: summarizePod(pod).status,
      })) ?? null,
    podCount: onIt?.filter((pod) => !isPodFinished(pod)).length ?? 0,
    finishedCount: onIt?.filter(isPodFinished).length ?? 0,
    events: (events ?? [])
      .map(eventFact)
      .toSorted((a, b) => (a.at < b.at ? 1 : -1))
      .slice(0, 50),
  }
}
